/* Prints the manual page and the completions of shells (docs.h).
 *
 * The word that --help shows for an option's value also tells how shells complete the value: small letters with '|'
 * between them ("paid|free", "time-per-sample|makespan") are the choices; PASS and LIST stand for names of passes,
 * KIND for the words of --emit, all other words for files.  -W is completed with names of warnings.  Characters with a
 * meaning in roff or in a shell are escaped. */
#include "docs.h"

#include "ir/base/memory.h"
#include "ir/cluster/presets.h"
#include "passes/pipeline.h"
#include "tools/lib/exec/kinds.h"

#include <stdlib.h>
#include <string.h>

/* ---- man -------------------------------------------------------------------------------------- */

/* Writes s as text of roff: escapes '-', '\', and '.' and '\'' at the start of a line, where they begin a request. */
static void put_roff(FILE *f, const char *s)
{
    for (bool start = true; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            fputs("\\&", f);
        if (*s == '-')
            fputs("\\-", f);
        else if (*s == '\\')
            fputs("\\e", f);
        else
            fputc(*s, f);
        start = *s == '\n';
    }
}

/* Writes the section on passes and their options. */
static void man_passes(FILE *f, struct arena *scratch)
{
    fputs(".SH PASSES\nOptions of a pass stand in braces: fuse{range=200:mem=8GiB}.\n.nf\n", f);
    const struct pass *p;
    for (uint32_t i = 0; (p = pass_at(exec_kinds, i)); i++) {
        struct memory m;
        memory_begin(&m, scratch);
        if (m.f)
            pass_help(m.f, p, scratch);
        const char *text = memory_close(&m, scratch);
        if (!text)
            return;
        fputs(".PP\n", f);
        put_roff(f, text);
    }
    fputs(".fi\n", f);
}

/* Writes the section on warnings and the option -W. */
static void man_warnings(FILE *f)
{
    fputs(
        ".SH WARNINGS\nEach ends with its name in brackets. \\fB\\-Wno\\-\\fR\\fINAME\\fR hides it, "
        "\\fB\\-W\\fR\\fINAME\\fR shows it again, \\fB\\-Werror=\\fR\\fINAME\\fR lets it fail the run before "
        "anything is written, \\fB\\-Wno\\-error=\\fR\\fINAME\\fR does not; \\fB\\-Werror\\fR and "
        "\\fB\\-Wno\\-error\\fR do so for all. The last one counts.\n",
        f);
    for (int w = WARN_NONE + 1; w < WARN_COUNT; w++) {
        fputs(".TP\n\\fB", f);
        put_roff(f, warning_text((enum warning)w).name);
        fputs("\\fR\n", f);
        put_roff(f, warning_text((enum warning)w).help);
        fputc('\n', f);
    }
}

/* Writes the section with the options of a topic. */
static void man_options(FILE *f, const struct cli *c, enum opt_topic topic)
{
    fprintf(f, ".SS %s\n", cli_topic_name[topic]);
    for (uint32_t i = 0; i < c->nshown; i++) {
        const struct cli_option *o = &c->option[i];
        if (o->topic != topic)
            continue;
        fputs(".TP\n\\fB", f);
        if (o->row->letter)
            fprintf(f, "\\-%c\\fR, \\fB", o->row->letter);
        fputs("\\-\\-", f);
        put_roff(f, o->row->name);
        fputs("\\fR", f);
        if (o->arg) {
            fputs("=\\fI", f);
            put_roff(f, o->arg);
            fputs("\\fR", f);
        }
        fputc('\n', f);
        put_roff(f, o->help);
        fputc('\n', f);
    }
}

/* The last sections of the manual page. */
static const char man_end[] =
    ".SH EXAMPLES\n"
    ".TP\n\\fBpcc model.onnx\\fR\nwhat is in the model: operators, weights, work, shapes.\n"
    ".TP\n\\fBpcc model.onnx \\-d 4xa100,1xcpu \\-\\-link 64GB/s,5us \\-o split/\\fR\n"
    "plan for four GPUs and their host, and write one model per part.\n"
    ".TP\n\\fBpcc model.onnx \\-\\-costs times.csv \\-o split/\\fR\nthe same with measured times.\n"
    ".TP\n\\fBpcc model.onnx \\-p fuse,dp\\-place \\-o plan.json\\fR\nthe plan alone, by a "
    "planner that is named.\n"
    ".TP\n\\fBpcc model.onnx \\-p 'plan{from=split}' \\-o plan.gantt.svg\\fR\n"
    "a picture of a plan that was made before.\n"
    ".SH FILES\n.TP\npcc\\-repro.pir\nwritten into the current folder when pcc finds a fault of "
    "its own; \\fBpcc pcc\\-repro.pir\\fR shows it again.\n"
    ".SH EXIT STATUS\n0 ok, 1 bad input, 2 usage, 3 no plan fits, 4 verification failed, "
    "70 internal error.\n"
    ".SH SEE ALSO\n\\fBdot\\fR(1), which lays out pictures; \\fBpcc\\-gen \\-\\-help\\fR, "
    "\\fBpcc\\-bench \\-\\-help\\fR; the pages task by task, docs/README.md. An installation has the pages, in the "
    "folders that are named here, in share/doc/pcc\\-onnx, and tools/measure.py in share/pcc.\n";

void docs_man(FILE *f, const struct cli *c, const char *version, struct arena *scratch)
{
    fprintf(f, ".TH PCC 1 \"\" \"pcc %s\" \"User Commands\"\n", version);
    fputs(
        ".SH NAME\npcc \\- split neural networks over several devices\n"
        ".SH SYNOPSIS\n.B pcc\n.I MODEL\n[options]\n"
        ".SH DESCRIPTION\nReads a model (ONNX, a workload in JSON, or textual IR), runs passes on "
        "it, and writes the outputs that options name: one model per part with a manifest and a picture, a "
        "plan, a table. Without passes and outputs it prints a summary of the model.\n"
        ".SH OPTIONS\n",
        f);
    for (int k = 0; k < OPT_TOPICS; k++)
        man_options(f, c, (enum opt_topic)k);
    man_passes(f, scratch);
    man_warnings(f);
    fputs(man_end, f);
}

/* ---- completions ------------------------------------------------------------------------------ */

/* Whether o describes devices, by words or by a file. */
static bool is_devices(const struct cli_option *o)
{
    return !strcmp(o->row->name, "devices") || o->id == CLI_LIST_DEVICES;
}

/* Returns the words that an option's value is completed with, separated by blanks, in a; NULL: names of files. */
static const char *words_of(const struct cli_option *o, struct arena *a)
{
    const char *s = o->arg;
    if (!strcmp(s, "KIND"))
        return writer_emits(" ", " ", a);
    if (!strcmp(o->row->name, "warnings")) {
        char *all = arena_fmt(a, "error no-error");
        for (int w = WARN_NONE + 1; w < WARN_COUNT; w++) {
            const char *name = warning_text((enum warning)w).name;
            all = arena_fmt(a, "%s %s no-%s error=%s", all, name, name, name);
        }
        return all;
    }
    if (is_devices(o)) {
        const char *all = "detect";
        struct device_class k;
        for (uint32_t i = 0; preset_at(i, &k); i++)
            all = arena_fmt(a, "%s %s", all, k.name);
        for (uint32_t i = 0; cluster_preset_name(i); i++)
            all = arena_fmt(a, "%s %s", all, cluster_preset_name(i));
        return all;
    }
    if (o->row->names && o->row->kind != OPT_SET)
        return opt_names(o->row, " ", " ", a);
    if (!strcmp(s, "PASS") || o->id == CLI_PASSES || o->optional) {
        char *all = arena_fmt(a, "%s", o->optional ? "all training" : "");
        const struct pass *p;
        for (uint32_t i = 0; (p = pass_at(exec_kinds, i)); i++)
            all = arena_fmt(a, "%s%s%s", all, *all ? " " : "", p->name);
        return all;
    }
    /* "auto|always" lists the words themselves; anything else, such as FILE, stands for a name */
    if (s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-|")])
        return NULL;
    char *words = arena_strdup(a, s, strlen(s));
    for (char *bar = words; (bar = strchr(bar, '|'));)
        *bar = ' ';
    return words;
}

/* Prints the completions for bash. */
static void complete_bash(FILE *f, const struct cli *c, struct arena *a)
{
    const struct cli_option *o = c->option;
    uint32_t n = c->noption;
    fputs("# bash completion of pcc; made by pcc --help-completion=bash\n"
          "_pcc()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
          "    # '=' is a word of its own in bash\n"
          "    if [[ $cur == = ]]; then cur=\n"
          "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    case $prev in\n",
          f);
    for (uint32_t i = 0; i < n; i++) {
        const char *words = o[i].arg ? words_of(&o[i], a) : NULL;
        if (!o[i].arg)
            continue;
        fprintf(f, "    --%s", o[i].row->name);
        if (o[i].row->letter)
            fprintf(f, "|-%c", o[i].row->letter);
        /* a word may follow other items and a count: 2xa100,1xcpu */
        if (words && is_devices(&o[i]))
            fprintf(
                f,
                ") [[ $cur =~ ^(.*,)?([0-9]+x)? ]]; words=${BASH_REMATCH[0]}\n"
                "        COMPREPLY=($(compgen -f -- \"$cur\") $(compgen -P \"$words\" -W '%s' -- "
                "\"${cur#\"$words\"}\")); return ;;\n",
                words);
        else if (words)
            fprintf(f, ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", words);
        else
            fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", f);
    }
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        words='", f);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(f, "%s--%s", i ? " " : "", o[i].row->name);
        if (o[i].row->letter)
            fprintf(f, " -%c", o[i].row->letter);
    }
    fputs("'\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
          "complete -o filenames -o bashdefault -F _pcc pcc\n",
          f);
}

/* Writes s for zsh, as part of a specification of _arguments in single quotes. */
static void put_zsh(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\'", f);
        else if (strchr("[]:\\", *s))
            fputc('\\', f);
        fputc(*s, f);
    }
}

/* Prints the completions for zsh. */
static void complete_zsh(FILE *f, const struct cli *c, struct arena *a)
{
    const struct cli_option *o = c->option;
    uint32_t n = c->noption;
    fputs("#compdef pcc\n# made by pcc --help-completion=zsh\n_arguments \\\n", f);
    for (uint32_t i = 0; i < n; i++) {
        const char *words = o[i].arg ? words_of(&o[i], a) : NULL;
        for (int form = o[i].row->letter ? 0 : 1; form < 2; form++) {
            if (form)
                fprintf(f, "    '*--%s%s[", o[i].row->name, o[i].arg ? "=" : "");
            else
                fprintf(f, "    '*-%c%s[", o[i].row->letter, o[i].arg ? "+" : "");
            put_zsh(f, o[i].help);
            fputc(']', f);
            if (o[i].arg) {
                fputc(':', f);
                put_zsh(f, o[i].arg);
                if (words && is_devices(&o[i])) /* a ':' of the action is escaped */
                    fprintf(f,
                            ":{_alternative \"devices\\:device\\:(%s)\" \"files\\:file\\:_files\"}",
                            words);
                else if (words)
                    fprintf(f, ":(%s)", words);
                else
                    fputs(":_files", f);
            }
            fputs("' \\\n", f);
        }
    }
    fputs("    '1:model:_files'\n", f);
}

/* Writes s in single quotes, as fish reads them. */
static void put_fish(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            fputc('\\', f);
        fputc(*s, f);
    }
    fputc('\'', f);
}

/* Prints the completions for fish. */
static void complete_fish(FILE *f, const struct cli *c, struct arena *a)
{
    fputs("# fish completion of pcc; made by pcc --help-completion=fish\n", f);
    for (uint32_t i = 0; i < c->noption; i++) {
        const struct cli_option *o = &c->option[i];
        const char *words = o->arg ? words_of(o, a) : NULL;
        fprintf(f, "complete -c pcc -l %s", o->row->name);
        if (o->row->letter)
            fprintf(f, " -s %c", o->row->letter);
        if (words) {
            fputs(is_devices(o) ? " -r -a " : " -x -a ", f); /* -r: files are completed, too */
            put_fish(f, words);
        } else if (o->arg) {
            fputs(" -r", f);
        }
        fputs(" -d ", f);
        put_fish(f, o->help);
        fputc('\n', f);
    }
}

void docs_completion(FILE *f, const struct cli *c, const char *shell, struct arena *scratch)
{
    void (*complete)(FILE *, const struct cli *, struct arena *) =
        !strcmp(shell, "bash")  ? complete_bash
        : !strcmp(shell, "zsh") ? complete_zsh
                                : complete_fish;
    complete(f, c, scratch);
}
