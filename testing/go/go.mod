module assay.test/assaytest

go 1.19
