module runcible

go 1.19
