// No Go here: a module of its own keeps these files out of the root module, which users download.
module github.com/levelbloom/levelbloom/testdata/encodings
