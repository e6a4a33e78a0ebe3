/* Files of a split folder that another folder takes over. */
#ifndef PCC_TOOLS_RUN_FOLDER_FILES_H
#define PCC_TOOLS_RUN_FOLDER_FILES_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* Gives the open folder `to` (a descriptor) all files of the split folder `from`: hard links to them, or copies if the
 * folders are on different file systems.  manifest: manifest.json is among them.  Returns 0, or -1 and an error. */
int folder_take_files(const char *from, int to, bool manifest, struct arena *a, struct diag *d);
/* Returns the path of the file of a split folder that is the same as the file at `path`, in a; NULL: none is. */
const char *folder_same_file(const char *folder, const char *path, struct arena *a);

#endif
