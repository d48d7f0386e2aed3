# Turns a text into C string literals, a line each.
s/[\\"]/\\&/g
s/^/"/
s/$/\\n"/
