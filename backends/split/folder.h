/* Writing a split folder so that it appears complete or not at all; or adding the files of a split to a folder that
 * exists. */
#ifndef PCC_BACKENDS_SPLIT_FOLDER_H
#define PCC_BACKENDS_SPLIT_FOLDER_H

#include "ir/base/name_table.h"
#include "ir/base/diag.h"

/* Copies and links of the source's files in a split are called source0.data, source1.data, ... */
#define SOURCE_STEM "source"
#define SOURCE_END ".data"
/* The data file of a part has the part's name with this end: part0.data beside part0.onnx. */
#define PART_DATA_END ".data"

/* A split folder that is being written: its files are made in a temporary folder first. */
struct folder {
    struct arena *a;
    struct diag *diag;
    const char *name; /* path of the folder as the user gave it, for messages */
    char *final;      /* path where the finished folder will be */
    char *temp;       /* path of the temporary folder; NULL: there is none (any more) */
    int dirfd;        /* descriptor of temp, locked while the folder is being made; -1: closed */
    bool replaces;    /* there is a split, or (without `into`) any file, at `final` already */
    bool into;        /* the folder at `final` stays, and the new files are moved into it */
    /* the entries of the split at `final` that may be removed: names of its files, such as "part0.onnx", paths of files
     * in folders for engines, "triton/gpt/config.pbtxt", and the names of these folders, "triton/" */
    struct names known;
    struct names made; /* with `into`: the new files, once they are moved */
    struct arena *own; /* removes temp when it is freed, unless the folder was committed before */
};

/* Makes the temporary folder beside the folder `name`.  There must be nothing called `name`, or an empty folder, or a
 * split folder (its manifest.json has the key pcc_manifest) without foreign files.  With `into` the folder `name` must
 * exist, and the temporary folder is made inside it.  Then `name` may hold foreign files; but a file with a name
 * that pcc gives to files of splits must belong to an old split there.  For names of engines' files this holds only
 * if a new file has the same name, which folder_commit() and folder_add() check.  model: path of the model that is
 * split, so that an error can say if this file is the one in the way; NULL: unknown.  Also removes temporary
 * folders that killed runs have left in the same place.  *f must not be moved until the folder is committed or
 * aborted; if `a` is freed before that, the temporary folder is removed.  Returns 0, or -1 and an error. */
int folder_begin(struct folder *f, const char *name, bool into, const char *model, struct arena *a,
                 struct diag *d);
/* Puts the finished folder into its place and removes the files of the split that was there.  Returns 0; or -1 and an
 * error, and the old split is unchanged.  With `into`, files are moved one by one, the manifest last, so an error may
 * leave some of them moved; but a folder that has a manifest is complete. */
int folder_commit(struct folder *f);
/* The file in a temporary folder with the manifest that folder_add() puts into the split folder first. */
#define FOLDER_LISTING ".pcc-listing"
/* Adds the new files to a split folder that was begun with `into`: old files stay, except those that new files and
 * folders replace.  FOLDER_LISTING comes first, as the manifest: it lists old and new files.  The new manifest comes
 * last.  So whenever a run is killed, the folder has a manifest that lists all of its files.  Returns 0, or -1 and an
 * error; if the error is that a file in the way is not listed in the old manifest, the folder is unchanged. */
int folder_add(struct folder *f);
/* Removes the temporary folder. */
void folder_abort(struct folder *f);
/* Whether pcc gives this name to files of splits, such as "part0.onnx" and "manifest.json". */
bool folder_own_name(const char *name);
/* For arena_defer(): closes a descriptor, which is given as (void *)(intptr_t)fd. */
void folder_close_descriptor(void *fd);

#endif
