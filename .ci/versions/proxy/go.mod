// As a module it stays out of the root module, whose users need no golang.org/x/mod.
module github.com/levelbloom/levelbloom/.ci/versions/proxy

go 1.24.0

require golang.org/x/mod v0.33.0
