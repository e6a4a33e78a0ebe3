/* A pcc whose hashes have the key PCC_HASH_KEY (hexadecimal), so that a test can give it two: nothing that is written
 * may depend on it.  Without one it is the system's.
 *
 * The linker puts __wrap_hash_key_new in place of every call of hash_key_new (--wrap). */
#include "ir/base/hash.h"

#include <stdlib.h>

struct hash_key __real_hash_key_new(void);
struct hash_key __wrap_hash_key_new(void);

struct hash_key __wrap_hash_key_new(void)
{
    const char *text = getenv("PCC_HASH_KEY");
    uint64_t k = text ? strtoull(text, NULL, 16) : 0;
    return text ? (struct hash_key){{k, ~k}} : __real_hash_key_new();
}
