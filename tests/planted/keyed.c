/* A pcc whose hashes have the key PCC_HASH_KEY (hexadecimal), so that a test can give it two: nothing that is written
 * may depend on it.  Without one it is the system's.
 *
 * hash_key_new of the program stands before the library's. */
#include "ir/base/hash.h"
#include "tests/planted/next.h"

#include <stdlib.h>

struct hash_key hash_key_new(void)
{
    struct hash_key (*real)(void) = next_function("hash_key_new");
    const char *text = getenv("PCC_HASH_KEY");
    uint64_t k = text ? strtoull(text, NULL, 16) : 0;
    return text ? (struct hash_key){{k, ~k}} : real();
}
