module bank

go 1.19

require (
	assay.test/assaytest v0.0.0
	github.com/lib/pq v1.10.9
)

replace assay.test/assaytest => ../../../testing/go
