# Prints what NVIDIA's reader finds in reports: one JSON line a launch, numbers by their bits so that none is rounded.
import json
import struct
import sys

sys.path.insert(0, sys.argv[1])
import ncu_report

STRING = ncu_report.IMetric.ValueKind_STRING
WHOLE = (ncu_report.IMetric.ValueKind_UINT32, ncu_report.IMetric.ValueKind_UINT64)
REAL = (ncu_report.IMetric.ValueKind_FLOAT, ncu_report.IMetric.ValueKind_DOUBLE)


def value(metric, *instance):
    kind = metric.kind(*instance)
    if kind == STRING:
        return "s" + metric.as_string(*instance)
    if kind in WHOLE:
        return "u%d" % metric.as_uint64(*instance)
    if kind in REAL:
        return "d%016x" % struct.unpack("<Q", struct.pack("<d", metric.as_double(*instance)))[0]
    return "-"


def metric(found):
    count = found.num_instances()
    correlations = found.correlation_ids() if found.has_correlation_ids() else None
    instances = [[value(correlations, i) if correlations else "-", value(found, i)] for i in range(count)]
    return [value(found) if found.has_value() else "-", found.unit(), instances]


def launch(action):
    names = (action.NameBase_MANGLED, action.NameBase_FUNCTION, action.NameBase_DEMANGLED)
    return {
        "names": [action.name(base) for base in names],
        "metrics": {name: metric(action.metric_by_name(name)) for name in action.metric_names()},
    }


for path in sys.argv[2:]:
    context = ncu_report.load_report(path)
    for number in range(context.num_ranges()):
        span = context.range_by_idx(number)
        for index in range(span.num_actions()):
            print(json.dumps({"path": path, **launch(span.action_by_idx(index))}))
