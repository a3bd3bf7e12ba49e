module h123.dev/bench/app

go 1.26.0
