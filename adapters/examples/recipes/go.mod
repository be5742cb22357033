// run.sh adds what these programs require. As a module they stay out of the root module, whose
// users do not need them.
module github.com/levelbloom/levelbloom/adapters/examples/recipes

go 1.23.0
