# account_of_log.jq: the device part of `rvprof dump --json` as an account of the form that a client prints (account.c),
# so that the two can be compared as they are. Run with: jq -n -c -f account_of_log.jq
def memory_name: ["plain", "ordered", "managed", "pinned", "registered", "physical", "array", "imported"][.];
def copy_name: {"1": "HtoD", "2": "DtoH", "8": "DtoD"}[tostring] // "other";
[inputs | select(.record | test("^(device|kernel|launch|graph)"))] as $all
| ($all | map(select(.record == "device_name")) | map({key: (.log + ":" + (.number | tostring)), value: .text}) | from_entries) as $names
| ($all | map(select(.record == "kernel_shape")) | map({key: (.log + ":" + (.shape | tostring)), value: $names[.log + ":" + (.name | tostring)]}) | from_entries) as $shapes
| ($all | map(select(.record == "kernel")) | map(. + {name: $shapes[.log + ":" + (.shape | tostring)]})) as $kernels
# An address is one thing for the allocs and frees of one kind; a free that was taken back was none.
| ($all | map(select(.record == "device_alloc" or .record == "device_free" or .record == "device_unfree")) | sort_by(.stamp)
  | reduce .[] as $e ({live: {}, freed: {}, kinds: {}, now: 0, peak: 0, unknown: 0};
      ($e.address | tostring) as $at
      | if $e.record == "device_alloc" then
          ($e.kind | memory_name) as $k
          | .live[$at] = {bytes: $e.bytes, kind: $k}
          | .kinds[$k].allocs += 1 | .kinds[$k].bytes += $e.bytes | .kinds[$k].live_bytes += $e.bytes | .kinds[$k].frees += 0
          | if $k != "pinned" and $k != "registered" and $k != "imported" then .now += $e.bytes else . end
          | .peak = ([.peak, .now] | max)
        elif $e.record == "device_free" then
          .live[$at] as $b
          | if $b == null then .unknown += 1 else
              .kinds[$b.kind].frees += 1 | .kinds[$b.kind].live_bytes -= $b.bytes | .freed[$at] = $b | del(.live[$at])
              | if $b.kind != "pinned" and $b.kind != "registered" and $b.kind != "imported" then .now -= $b.bytes else . end
            end
        else
          .freed[$at] as $b
          | if $b == null then . else
              .kinds[$b.kind].frees -= 1 | .kinds[$b.kind].live_bytes += $b.bytes | .live[$at] = $b
              | if $b.kind != "pinned" and $b.kind != "registered" and $b.kind != "imported" then .now += $b.bytes else . end
            end
        end)) as $memory
| {
    kernels: ($kernels | group_by(.name) | map({key: .[0].name, value: length}) | from_entries),
    kernel_count: ($kernels | length),
    kernel_ns: ($kernels | map(.duration_ns) | add // 0),
    flaws: ($kernels | map(select(.flaw != 0)) | group_by(.flaw) | map({key: (.[0].flaw | tostring), value: length}) | from_entries),
    memory: ($memory.kinds | del(.registered, .imported)),
    live_bytes: $memory.now, peak_bytes: $memory.peak, unknown_frees: $memory.unknown,
    copies: ($all | map(select(.record == "device_copy")) | group_by(.kind) | map({key: (.[0].kind | copy_name),
      value: {count: length, bytes: (map(.bytes) | add)}}) | from_entries),
    sets: ($all | map(select(.record == "device_set")) | {count: length, bytes: (map(.bytes) | add // 0)}),
    refused: ($all | map(select(.record == "device_refused")) | {count: length, bytes: (map(.bytes) | add // 0)}),
    graph_runs: ($all | map(select(.record == "graph_run")) | length),
    launches: ($all | map(select(.record == "launch") | .stands_for) | add // 0),
    tracer: ($all | map(select(.record == "device_tracer")) | map({source, tier, reason}) | unique),
    clocks: ($all | map(select(.record == "device_clock")) | length)
  }
