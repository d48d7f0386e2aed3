# SPDX-License-Identifier: MIT
# categories.gp: live bytes of the host by category over time, stacked, from a run folder's categories.csv, as SVG.
#
#     gnuplot -e "run='rvprof.python3.1234'; out='picture.svg'" docs/pictures/categories.gp
#
# A category that never was above 1 % of the sum of all highest is left out.
set datafile separator comma
set terminal svg size 860,340 font "sans-serif,13" background "white"
set output out
csv = run . "/categories.csv"
# The host's rows; of very many the first of each five-hundredth of the time.
rows = "< awk -F, 'FNR == 1 {if (NR == 1) print; next} $2 != \"host\" {next} !begin {begin = $1} " . \
	"NR == FNR {end = $1; next} {part = int(500 * ($1 - begin) / (end - begin + 1))} part != last {print; last = part}' " . \
	csv . " " . csv
names = "weights kv_cache activation temp gradient optimizer workspace input runtime allocator unknown"
columns = "3 4 5 6 7 8 9 13 14 15 19"
colours = "#4c72b0 #dd8452 #55a868 #c44e52 #8172b3 #937860 #da8bc3 #8c8c8c #ccb974 #64b5cd #bbbbbb"
stats rows every ::1 using 1 nooutput
begin = STATS_min
array most[11]
total = 0
do for [i=1:11] {
	stats rows every ::1 using (column(int(word(columns, i)))) nooutput
	most[i] = STATS_max
	total = total + STATS_max
}
sum_to(n) = n < 1 ? 0 : sum_to(n - 1) + column(int(word(columns, n)))
set key outside right top reverse Left samplen 1.5 noenhanced
set xlabel "seconds since the start"
set ylabel "live MiB"
set style fill solid 0.9 noborder
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set xrange [0:*]
plot for [i=11:1:-1] (most[i] > total / 100 ? rows : "< echo 0,0") every ::(most[i] > total / 100 ? 1 : 0) \
	using (most[i] > total / 100 ? (column(1) - begin) / 1e6 : NaN):(most[i] > total / 100 ? sum_to(i) / 2**20 : NaN) \
	with filledcurves y1=0 lc rgb word(colours, i) title (most[i] > total / 100 ? word(names, i) : "")
