"""The kernels that the link's queues are compared with: one takes its random numbers from the packets, the other
draws its own."""

from pathlib import Path

from h123.virtual import Configuration

HOST_AT, FLOW_AT = 12, 20
"""Where a packet has what CAKE takes for its hashes, 4 bytes each: the sender's address, and the ports."""
DRAW_AT = 28
"""Where a packet has its draw, 8 bytes: behind IP header, ports and number. 0: the kernel draws."""
_DRAW = "(h123_draw ?: get_random_u64())"
_ENQUEUE = "rc = q->enqueue(skb, q, to_free)"
_NEXT = (
    "static inline u32 h123_next(void)\n{\n\tif (!h123_draw)\n\t\treturn get_random_u32();\n"
    "\th123_draw = h123_draw * 6364136223846793005ULL + 1442695040888963407ULL;\n\treturn h123_draw >> 32;\n}\n\n"
)
"""A packet's draw is the seed of those that CAKE needs until the next packet comes."""
_MEMORY = (
    (
        "net/sched/sch_cake.c",
        "skb->truesize",
        "(roundup_pow_of_two(max_t(u32, qdisc_pkt_len(skb) + 336, 512)) + 256)",
    ),
)
"""What a packet's memory is depends on who allocated it. So this kernel's CAKE counts it as the link's does."""
_EDITS = (
    ("include/net/pkt_sched.h", "#define PSCHED_SHIFT", "extern u64 h123_draw;\n#define PSCHED_SHIFT"),
    ("net/core/dev.c", "static int dev_qdisc_enqueue(", "u64 h123_draw;\n\nstatic int dev_qdisc_enqueue("),
    (
        "net/core/dev.c",
        _ENQUEUE,
        f"h123_draw = skb_headlen(skb) < {DRAW_AT + 8} ? 0 : *(u64 *)(skb->data + {DRAW_AT});\n\t{_ENQUEUE}",
    ),
    ("net/sched/sch_pie.c", "get_random_bytes(&rnd, 8)", f"rnd = {_DRAW}"),
    ("include/net/red.h", "get_random_u32()", f"(u32)({_DRAW} >> 32)"),
    # DualPI2 rolls up to twice for a packet that it takes: with either half of the packet's draw.
    (
        "net/sched/sch_dualpi2.c",
        "return get_random_u32() <= prob;",
        f"u64 draw = {_DRAW};\n\n\th123_draw = draw << 32 | draw >> 32;\n\treturn (u32)(draw >> 32) <= prob;",
    ),
    (
        "net/sched/sch_dualpi2.c",
        "prob = READ_ONCE(q->pi2_prob);",
        f"h123_draw = skb_headlen(skb) < {DRAW_AT + 8} ? 0 : *(u64 *)(skb->data + {DRAW_AT});\n"
        "\tprob = READ_ONCE(q->pi2_prob);",
    ),
    # Its timer comes at multiples of its period, and calculates for the time at which it was due. As it is, it runs a
    # little late, and later each time.
    (
        "net/sched/sch_dualpi2.c",
        "return ktime_add_ns(ktime_get_ns(), q->pi2_tupdate);",
        "return (ktime_get_ns() / q->pi2_tupdate + 1) * q->pi2_tupdate;",
    ),
    ("net/sched/sch_dualpi2.c", "now = ktime_get_ns();\n\tqc =", "now = hrtimer_get_expires(&q->pi2_timer);\n\tqc ="),
    ("net/sched/sch_dualpi2.c", "*qdelay_c = qc ?", "*qdelay_c = qc && qc < now ?"),
    ("net/sched/sch_dualpi2.c", "*qdelay_l = ql ?", "*qdelay_l = ql && ql < now ?"),
    ("net/sched/sch_cake.c", "#define CAKE_SET_WAYS", _NEXT + "#define CAKE_SET_WAYS"),
    ("net/sched/sch_cake.c", "get_random_u16()) >> 16", "(h123_next() >> 16)) >> 16"),
    ("net/sched/sch_cake.c", "get_random_u32() <", "h123_next() <"),
    (
        "net/sched/sch_cake.c",
        "skip_hash:\n\tif (flow_override)",
        f"skip_hash:\n\tif (h123_draw) {{\n\t\tflow_hash = *(u32 *)(skb->data + {FLOW_AT});\n"
        f"\t\tsrchost_hash = dsthost_hash = *(u32 *)(skb->data + {HOST_AT});\n\t}} else if (flow_override)",
    ),
    *_MEMORY,
    # CBS is a constant rate: its device carries 10 Mbit/s, so that it does not round, and neither a packet that comes
    # nor a timer that is late changes when the next packets leave.
    ("drivers/net/tun.c", "SPEED_10000", "SPEED_10"),
    (
        "net/sched/sch_cbs.c",
        "credits = timediff_to_credits(now - q->last, q->idleslope);",
        "s64 due = q->last + delay_from_credits(q->credits, q->idleslope);\n\n"
        "\t\tif (now > due && now < due + 5000)\n\t\t\tnow = due;\n"
        "\t\tcredits = timediff_to_credits(now - q->last, q->idleslope);",
    ),
    (
        "net/sched/sch_cbs.c",
        "qdisc_watchdog_schedule_ns(&q->watchdog, now + delay);\n\n\t\t\tq->last = now;",
        "q->credits -= timediff_to_credits(now - q->last, q->idleslope);\n"
        "\t\t\tdelay = delay_from_credits(q->credits, q->idleslope);\n"
        "\t\t\tqdisc_watchdog_schedule_ns(&q->watchdog, q->last + delay);",
    ),
    # The timers of this kernel are a tick late: this one comes every 500 ms. And it comes at all: as it is, the kernel
    # looks for the flag where `tc` no longer has it.
    ("net/sched/sch_red.c", "jiffies + HZ/2", "jiffies + HZ/2 - 1"),
    ("net/sched/sch_red.c", "ctl->flags & TC_RED_ADAPTATIVE", "flags & TC_RED_ADAPTATIVE"),
)
_OPTIONS = Path(__file__).with_name("queues.config")
WITNESS = Configuration("witness-kernel", _OPTIONS, _EDITS)
OWN_DRAWS = Configuration("own-draws-kernel", _OPTIONS, _MEMORY)
