/* A folder that appears complete or not at all; or files that move into one that stays. */
#ifndef PCC_BACKENDS_SPLIT_FOLDER_H
#define PCC_BACKENDS_SPLIT_FOLDER_H

#include "ir/base/name_table.h"
#include "ir/base/diag.h"

/* Names of the source's files in a split: source0.data, ... */
#define SOURCE_STEM "source"
#define SOURCE_END ".data"

struct folder {
    struct arena *a;
    struct diag *diag;
    const char *name;   /* as the user gave it */
    char *final;        /* where it is to be */
    char *temp;         /* where it is being made */
    int dirfd;          /* of temp; its lock says that the folder is being made */
    bool replaces;      /* a split folder is there already */
    bool into;          /* the files move into the folder that is there */
    struct names known; /* its files */
    struct names made;  /* with `into`: the new ones */
    struct arena
        *own; /* removes what is unfinished if it is freed before folder_commit and folder_abort */
};

/* Makes the temporary folder beside `name`, if a folder may come there: nothing is there, or an
 * empty folder, or a split folder (a manifest.json with pcc_manifest) that holds no other files.
 * With `into` the folder must be there and may hold other files, but none that has the name of a
 * file of a split, unless a split is there to which it belongs; model: the file that is split, for a
 * message about it (NULL: none).  Removes what killed runs have left
 * beside it (with `into`: in it).  *f must not be moved until the folder is committed or aborted; if
 * the program exits before, nothing is left.  0 or -1. */
int folder_begin(struct folder *f, const char *name, bool into, const char *model, struct arena *a,
                 struct diag *d);
/* Puts it in its place; the old one's files are removed.  0, or -1 and nothing has changed.  With `into`
 * files move one by one, the manifest last: where it is, all is. */
int folder_commit(struct folder *f);
/* Removes the temporary folder. */
void folder_abort(struct folder *f);
/* Whether a file of a split may have that name. */
bool folder_own_name(const char *name);

#endif
