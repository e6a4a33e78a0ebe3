# After libpcc.so has come or gone, for rpm.
ldconfig
