// split++ MODEL FOLDER: pcc.h from C++.  The model is read into memory, planned with a limit on progress, and written as
// a split and a picture.
#include <pcc.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace
{

struct Deleter {
    void operator()(pcc *p) const { pcc_free(p); }
};

using Handle = std::unique_ptr<pcc, Deleter>;

void check(const Handle &p, pcc_status s)
{
    if (s != PCC_OK)
        throw std::runtime_error(pcc_error(p.get()));
}

// Stops when it was called too often.
int count(void *user, const pcc_progress *)
{
    return ++*static_cast<long *>(user) > 1000000;
}

void run(const std::string &model, const std::string &folder)
{
    std::ifstream in(model, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Handle p(pcc_new());
    if (!p)
        throw std::bad_alloc();
    long calls = 0;
    pcc_listener listener = {};
    listener.user = &calls;
    listener.progress = count;
    pcc_listen(p.get(), &listener);
    check(p, pcc_set(p.get(), "devices", "2xa100"));
    check(p, pcc_open_memory(p.get(), model.c_str(), bytes.data(), bytes.size()));
    check(p, pcc_plan(p.get(), "dp-place"));
    check(p, pcc_write(p.get(), folder.c_str()));
    check(p, pcc_write(p.get(), (folder + ".svg").c_str()));
    const struct pcc_verdict *v = pcc_verdict(p.get());
    std::cout << v->objective << ": " << v->value << " ps\n" << pcc_text(p.get(), "table");
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc != 3)
        throw std::invalid_argument("usage: split++ MODEL FOLDER");
    run(argv[1], argv[2]);
} catch (const std::exception &e) {
    std::cerr << e.what() << "\n";
    return 1;
}
