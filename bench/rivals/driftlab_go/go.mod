module driftlab_go

go 1.19
