/* The report of a plan as an HTML page: declarations that the files of this folder share. */
#ifndef PCC_BACKENDS_HTML_HTML_H
#define PCC_BACKENDS_HTML_HTML_H

#include "backends/picture/arrows.h"
#include "ir/plan/parts.h"

/* Writes the page to the file `path` ("-": r->out).  Returns 0, or -1 and an error. */
int html_write(const struct result *r, const char *path);

/* The page while it is written. */
struct html {
    FILE *f;
    const struct result *r;
    struct arena *a;
    /* the boxes of the graph: parts, or devices if there are more than 2,000 parts */
    struct frames box;
};

/* The style sheet and the program of the page, which the build makes of report.css and report.js, and the SHA-256 of
 * each in base64, by which browsers know them. */
extern const unsigned char report_css_text[], report_js_text[];
extern const size_t report_css_size, report_js_size;
extern const char report_css_sha256[], report_js_sha256[];

/* Each writes a section of the page. */
void html_put_graph(struct html *h);
void html_put_timeline(struct html *h);
void html_put_devices(struct html *h);
void html_put_parts(struct html *h);
void html_put_transfers(struct html *h);
void html_put_sizes(struct html *h);

/* Writes the nodes of each box as JSON, for the program of the page. */
void html_put_nodes(struct html *h);

/* Write the beginning and the end of a section; id: what links to the section name.  The text is the page's own. */
void html_open(struct html *h, const char *id, const char *title);
void html_close(struct html *h);
/* Begin and end a table with these headings (NULL ends the list).  A heading that starts with '#', which is not shown,
 * stands above a column of numbers.  rows: number of rows that the caller writes next; a long table is folded. */
void html_open_table(struct html *h, const char *const *heading, uint32_t rows);
void html_close_table(struct html *h);

#endif
