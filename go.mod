module github.com/levelbloom/levelbloom

go 1.23.0

require (
	github.com/golang/snappy v0.0.4
	github.com/stretchr/testify v1.8.1
	github.com/zeebo/xxh3 v1.0.2
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
