/* A folder that appears complete or not at all. */
#ifndef PCC_BACKENDS_FOLDER_H
#define PCC_BACKENDS_FOLDER_H

#include "backends/names.h"
#include "backends/unfinished.h"
#include "ir/diag.h"

struct folder {
    struct arena *a;
    struct diag *diag;
    const char *name;   /* as the user gave it */
    char *final;        /* where it is to be */
    char *temp;         /* where it is being made */
    int dirfd;          /* of temp; its lock says that the folder is being made */
    bool replaces;      /* a split folder is there already */
    struct names known; /* its files */
    struct unfinished unfinished;
};

/* Makes the temporary folder beside `name`, if a folder may come there: nothing is there, or an
 * empty folder, or a split folder (a manifest.json with pcc_manifest) that holds no other files.
 * Removes what killed runs have left beside it.  *f must not be moved until the folder is committed
 * or aborted; if the program exits before, nothing is left.  0 or -1. */
int folder_begin(struct folder *f, const char *name, struct arena *a, struct diag *d);
/* Puts it in its place; the old one's files are removed.  0, or -1 and nothing has changed. */
int folder_commit(struct folder *f);
/* Removes the temporary folder. */
void folder_abort(struct folder *f);

#endif
