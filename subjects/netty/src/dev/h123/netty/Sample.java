package dev.h123.netty;

/** One request: a row of samples.csv. Times are those of System.nanoTime, which is the monotonic clock; 0: unknown. */
final class Sample {
    static final String HEADER = "phase,user,start_ns,connected_ns,sent_ns,first_byte_ns,end_ns,status,"
        + "bytes_up,bytes_down,protocol,connection,reused,error,group,resource";

    final String phase;
    final int user;
    final int visit; // of its user's, NONE where it is no part of a page
    final int resource; // what it asks for, of all that the workload does
    final long start = System.nanoTime();
    long connected;
    long sent;
    long firstByte;
    long end;
    int status;
    long up;
    long down;
    Link link; // null: there was no connection
    boolean reused;
    String error = "";

    /** No visit. */
    private static final int NONE = -1;

    Sample(String phase, int user) {
        this(phase, user, NONE, 0);
    }

    Sample(String phase, int user, int visit, int resource) {
        this.phase = phase;
        this.user = user;
        this.visit = visit;
        this.resource = resource;
    }

    String row() {
        String protocol = link == null ? "" : link.protocol;
        String connection = link == null ? "" : Integer.toString(link.index);
        return String.join(",", phase, Integer.toString(user), time(start), time(connected), time(sent),
            time(firstByte), time(end), Integer.toString(status), Long.toString(up), Long.toString(down),
            protocol, connection, reused ? "1" : "0", quoted(error), number(visit), visit == NONE ? "" : number(resource));
    }

    private static String number(int of) {
        return of == NONE ? "" : Integer.toString(of);
    }

    private static String time(long at) {
        return at == 0 ? "" : Long.toString(at);
    }

    private static String quoted(String text) {
        return text.matches("[^\",\r\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
}
