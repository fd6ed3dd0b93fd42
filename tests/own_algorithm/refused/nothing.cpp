// A library that exports no catalog.

extern "C" int something_else() { return 0; }
