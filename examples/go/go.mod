module assay-check

go 1.19
