import assay
result = assay.check("examples/write-skew.hist", levels="serializable")
print(result["serializable"])
