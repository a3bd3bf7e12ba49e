//! When packets are delivered: known answers.

mod common;

use common::{MS, deliveries, direction, fates, tcp, udp};
use h123_link::{Fate, Path};

#[test]
fn a_default_direction_passes_packets_at_once() {
    assert_eq!(deliveries("{}", &[(7, 1500), (7, 40)]), [Some(7), Some(7)]);
}

#[test]
fn delay_is_added() {
    assert_eq!(deliveries(r#"{"delay_ns": 15000000}"#, &[(7, 40)]), [Some(15_000_007)]);
}

#[test]
fn a_time_that_goes_back_is_taken_for_the_latest() {
    let json = r#"{"rate": {"bps": 12000000}, "queue": {"ns": 1000000}}"#;
    let packets = [(5 * MS, 1500), (0, 1500)];
    assert_eq!(deliveries(json, &packets), [6, 7].map(|ms| Some(ms * MS)));
}

#[test]
fn a_rate_serves_one_packet_after_another_and_saves_no_credit() {
    // 1500 bytes take 1.2 ms at 10 Mbit/s.
    let packets = [(0, 1500), (0, 1500), (10 * MS, 1500), (10 * MS, 750)];
    let expected = [1_200_000, 2_400_000, 11_200_000, 11_800_000].map(Some);
    assert_eq!(deliveries(r#"{"rate": {"bps": 10000000}}"#, &packets), expected);
}

#[test]
fn fractions_of_a_nanosecond_do_not_add_up() {
    // 3 bytes take 24/7 ns at 7 Gbit/s; 7000 of them exactly 24 us.
    let packets = vec![(0, 3); 7000];
    let last = deliveries(r#"{"rate": {"bps": 7000000000}}"#, &packets).pop();
    assert_eq!(last, Some(Some(24_000)));
}

#[test]
fn what_a_packet_leaves_of_a_nanosecond_is_gone_after_a_pause() {
    // At 7 Gbit/s one byte takes 8/7 ns and six take 48/7 ns.
    let json = r#"{"rate": {"bps": 7000000000}}"#;
    assert_eq!(deliveries(json, &[(0, 1), (0, 6)]), [Some(2), Some(8)]);
    assert_eq!(deliveries(json, &[(0, 1), (10, 6)]), [Some(2), Some(17)]);
}

#[test]
fn a_rate_change_acts_in_the_midst_of_a_packet() {
    // 12000 bits: 6000 in the first 0.6 ms at 10 Mbit/s, then 2000 in 1 ms at 2 Mbit/s, then 4000 at 8 Mbit/s.
    let json = r#"{"rate": {"bps": 10000000}, "changes": [
        {"at_ns": 600000, "rate": {"bps": 2000000}}, {"at_ns": 1600000, "rate": {"bps": 8000000}}]}"#;
    assert_eq!(deliveries(json, &[(0, 1500), (0, 1000)]), [Some(2_100_000), Some(3_100_000)]);
}

#[test]
fn a_rate_may_begin_late() {
    let json = r#"{"changes": [{"at_ns": 1000000, "rate": {"bps": 8000000}}]}"#;
    let packets = [(999_999, 1500), (MS, 1000), (MS, 1000)];
    assert_eq!(deliveries(json, &packets), [999_999, 2 * MS, 3 * MS].map(Some));
}

#[test]
fn a_trace_serves_at_its_opportunities_and_repeats() {
    let json = r#"{"rate": {"trace_ms": [1, 3, 3, 10]}}"#;
    let packets = [(0, 1500); 6];
    assert_eq!(deliveries(json, &packets), [1, 3, 3, 10, 11, 13].map(|ms| Some(ms * MS)));
}

#[test]
fn packets_share_an_opportunity_and_large_ones_span_several() {
    let json = r#"{"rate": {"trace_ms": [1, 2, 3, 4], "opportunity_bytes": 1000}}"#;
    let packets = [(0, 400), (0, 600), (0, 1500), (0, 500), (0, 1)];
    assert_eq!(deliveries(json, &packets), [1, 1, 3, 3, 4].map(|ms| Some(ms * MS)));
}

#[test]
fn an_opportunity_serves_whom_it_finds_and_is_gone() {
    let json = r#"{"rate": {"trace_ms": [1, 5]}}"#;
    let packets = [(0, 100), (MS, 100), (MS + 1, 100), (1000 * MS, 100), (1000 * MS + 1, 100)];
    assert_eq!(deliveries(json, &packets), [1, 1, 5, 1000, 1001].map(|ms| Some(ms * MS)));
}

#[test]
fn a_trace_that_starts_at_zero_has_two_opportunities_at_its_turn() {
    let json = r#"{"rate": {"trace_ms": [0, 4]}}"#;
    assert_eq!(deliveries(json, &[(0, 1500); 5]), [0, 4, 4, 8, 8].map(|ms| Some(ms * MS)));
}

#[test]
fn a_trace_and_a_rate_take_turns_within_a_packet() {
    // 1500 bytes by opportunities at 1 and 2 ms, 1 at 3 ms no more: from there on 8 Mbit/s, then a trace that begins at 10 ms.
    let json = r#"{"rate": {"trace_ms": [1], "opportunity_bytes": 500}, "changes": [
        {"at_ns": 3000000, "rate": {"bps": 8000000}}, {"at_ns": 10000000, "rate": {"trace_ms": [2]}}]}"#;
    let packets = [(0, 1500), (9 * MS, 1500), (9 * MS, 1000)];
    assert_eq!(deliveries(json, &packets), [3_500_000, 12 * MS, 12 * MS].map(Some));
}

#[test]
fn changes_of_delay_go_by_departure_and_keep_order() {
    let json =
        r#"{"rate": {"bps": 8000000}, "delay_ns": 5000000, "changes": [{"at_ns": 2000000, "delay_ns": 1000000}]}"#;
    // Departures at 1, 2 and 9 ms.
    let packets = [(0, 1000), (0, 1000), (8 * MS, 1000)];
    assert_eq!(deliveries(json, &packets), [6, 6, 10].map(|ms| Some(ms * MS)));
}

#[test]
fn a_delay_that_falls_lets_packets_overtake_where_order_is_not_kept() {
    let json = r#"{"delay_ns": 5000000, "jitter": {"spread_ns": 0, "distribution": "uniform", "keep_order": false},
        "changes": [{"at_ns": 1000000, "delay_ns": 1000000}]}"#;
    assert_eq!(deliveries(json, &[(0, 40), (MS, 40)]), [5, 2].map(|ms| Some(ms * MS)));
}

#[test]
fn a_queue_counts_the_packet_in_service() {
    let json = r#"{"rate": {"bps": 12000000}, "queue": {"packets": 2}}"#;
    let packets = [(0, 1500), (0, 1500), (0, 1500), (MS - 1, 1500), (MS, 1500)];
    assert_eq!(deliveries(json, &packets), [Some(MS), Some(2 * MS), None, None, Some(3 * MS)]);
}

#[test]
fn a_queue_in_bytes_lets_small_packets_in_where_large_ones_find_no_room() {
    let json = r#"{"rate": {"bps": 12000000}, "queue": {"bytes": 3000}}"#;
    let packets = [(0, 1500), (0, 1000), (0, 501), (0, 500)];
    assert_eq!(deliveries(json, &packets), [Some(MS), Some(1_666_667), None, Some(2 * MS)]);
}

#[test]
fn a_queue_in_time_limits_the_wait_for_service() {
    let json = r#"{"rate": {"bps": 12000000}, "queue": {"ns": 2000000}}"#;
    let packets = [(0, 1500), (0, 1500), (0, 1500), (0, 1500), (1, 1500)];
    assert_eq!(deliveries(json, &packets), [Some(MS), Some(2 * MS), Some(3 * MS), None, None]);
    let packets = [(0, 1500), (0, 1500), (0, 1500), (MS, 1500)];
    assert_eq!(deliveries(json, &packets)[3], Some(4 * MS));
}

#[test]
fn a_lost_packet_has_used_the_rate() {
    let json = r#"{"rate": {"bps": 12000000}, "loss": {"packets": [0]}}"#;
    assert_eq!(deliveries(json, &[(0, 1500), (0, 1500)]), [None, Some(2 * MS)]);
}

#[test]
fn blocked_udp_leaves_the_rate_to_others() {
    let json = r#"{"rate": {"bps": 12000000}, "changes": [
        {"at_ns": 1000000, "udp": "reject"}, {"at_ns": 2000000, "udp": "drop"}, {"at_ns": 3000000, "udp": "pass"}]}"#;
    let arrivals = [(0, udp(1500)), (MS, udp(1500)), (MS, tcp(1500)), (2 * MS, udp(1500)), (3 * MS, udp(1500))];
    let at = |ms: u64| Fate::Deliver { at: ms * MS, copy: None };
    let blocked = |reject| Fate::Blocked { reject };
    let expected = [at(1), blocked(true), at(2), blocked(false), at(4)];
    assert_eq!(fates(&direction(json), 1, &arrivals), expected);
}

#[test]
fn limited_udp_is_what_100_ms_have_saved_and_then_the_rate() {
    // 1500 bytes are 10 ms of 1.2 Mbit/s: ten at once, then one each 10 ms; TCP is not asked.
    let limited = direction(r#"{"udp": {"limit": 1200000}}"#);
    let mut arrivals = vec![(0, udp(1500)); 11];
    arrivals.extend([
        (0, tcp(1500)),
        (10 * MS - 1, udp(1500)),
        (10 * MS, udp(1500)),
        (10 * MS, udp(1500)),
        (40 * MS, udp(4500)),
    ]);
    let passed: Vec<_> =
        fates(&limited, 1, &arrivals).iter().map(|fate| *fate != Fate::Blocked { reject: false }).collect();
    let expected = [&[true; 10][..], &[false, true, false, true, false, true]].concat();
    assert_eq!(passed, expected);
}

#[test]
fn however_low_the_limit_a_full_packet_passes_after_a_silence() {
    // 12 s each at 1 kbit/s.
    let limited = direction(r#"{"udp": {"limit": 1000}}"#);
    let arrivals = [0, 11_999, 12_000].map(|ms| (ms * MS, udp(1500)));
    let blocked = Fate::Blocked { reject: false };
    let passed = fates(&limited, 1, &arrivals);
    assert_eq!(passed[1], blocked);
    assert!(passed[0] != blocked && passed[2] != blocked);
}

#[test]
fn a_blackout_loses_what_departs_in_it() {
    // Departures at 1, 2, 3 and 4 ms.
    let json = r#"{"rate": {"bps": 12000000}, "blackouts": [{"from_ns": 2000000, "to_ns": 3000000}, {"from_ns": 3000001, "to_ns": 4000001}]}"#;
    assert_eq!(deliveries(json, &[(0, 1500); 4]), [Some(MS), None, Some(3 * MS), None]);
}

#[test]
fn a_copy_arrives_with_its_original() {
    let json = r#"{"delay_ns": 5, "duplicate": 1}"#;
    assert_eq!(fates(&direction(json), 1, &[(1, tcp(40))]), [Fate::Deliver { at: 6, copy: Some(6) }]);
}

#[test]
fn a_packet_ahead_overtakes_although_order_is_kept() {
    let json = r#"{"delay_ns": 20000000, "reorder": {"share": 0.3, "ahead_ns": 15000000}}"#;
    let mut path = Path::new(&direction(json), 1);
    let delays: Vec<u64> = (0..200)
        .map(|i| common::delivery(common::own(&mut path, i * 20 * MS, tcp(1500))).unwrap() - i * 20 * MS)
        .collect();
    let ahead = delays.iter().filter(|&&delay| delay == 5 * MS).count();
    assert_eq!(delays.iter().filter(|&&delay| delay == 20 * MS).count(), 200 - ahead);
    let (low, high) = h123_link::binomial_interval(200, 0.3, 0.999);
    assert!((low..=high).contains(&(ahead as u64)), "{ahead} of 200 packets went ahead");
}

#[test]
fn a_packet_ahead_does_not_open_the_way_for_the_next() {
    let json = r#"{"delay_ns": 20000000, "reorder": {"share": 0.5, "ahead_ns": 15000000},
        "changes": [{"at_ns": 2000000, "delay_ns": 1000000}]}"#;
    // With this seed the second of three packets goes ahead.
    let fates = fates(&direction(json), 5, &[(0, tcp(40)), (MS, tcp(40)), (2 * MS, tcp(40))]);
    let deliveries: Vec<_> = fates.into_iter().map(common::delivery).collect();
    assert_eq!(deliveries, [20, 6, 20].map(|ms| Some(ms * MS)));
}

#[test]
fn jitter_has_the_spread_it_says() {
    for (distribution, deviation) in [("uniform", 5e6 / 3f64.sqrt()), ("normal", 5e6)] {
        let json = format!(
            r#"{{"delay_ns": 50000000, "jitter": {{"spread_ns": 5000000, "distribution": "{distribution}", "keep_order": false}}}}"#
        );
        let packets: Vec<_> = (0..20_000).map(|i| (i, 40)).collect();
        let offsets: Vec<f64> =
            (0u64..).zip(deliveries(&json, &packets)).map(|(sent, at)| (at.unwrap() - sent) as f64 - 50e6).collect();
        let mean = offsets.iter().sum::<f64>() / 20_000.0;
        let variance = offsets.iter().map(|offset| (offset - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Five standard errors of either figure, at most.
        assert!(mean.abs() < 5.0 * deviation / 20_000f64.sqrt(), "{distribution}: mean {mean} ns");
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.025, "{distribution}: deviation {variance}");
        let within = offsets.iter().filter(|offset| offset.abs() <= 5e6).count();
        let share = within as f64 / 20_000.0;
        let expected = if distribution == "uniform" { 1.0 } else { 0.6827 };
        assert!((share - expected).abs() < 0.017, "{distribution}: {share} within one spread");
    }
}
