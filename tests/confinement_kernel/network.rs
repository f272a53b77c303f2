//! Sockets.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use serde_json::{Value as Json, json};

use crate::attempt::{Field, expected, perl};

fn none() -> Json {
    json!({ "level": "required", "network": "none" })
}

fn tcp(port: u16, more: &str) -> Json {
    perl(&format!(
        "use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or die $!; \
         my $a = sockaddr_in({port}, inet_aton('127.0.0.1')); {more}"
    ))
}

fn connect(port: u16) -> Json {
    tcp(port, "connect($s, $a) or die $!; print 'escaped'")
}

#[tokio::test]
async fn without_a_network_there_are_no_sockets() {
    assert!(expected(0));
    let field = Field::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    field.is_stopped(none(), connect(listener.local_addr().unwrap().port())).await;
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = udp.local_addr().unwrap().port();
    let send = format!(
        "use Socket; socket(my $s, PF_INET, SOCK_DGRAM, 0) or die $!; \
         send($s, 'x', 0, sockaddr_in({port}, inet_aton('127.0.0.1'))) and print 'escaped'"
    );
    field.is_stopped(none(), perl(&send)).await;
    let netlink = perl("socket(my $s, 16, 3, 0) or die $!; print 'escaped'");
    field.is_stopped(none(), netlink).await;
}

#[tokio::test]
async fn without_a_network_no_other_process_is_reached_by_a_name() {
    let field = Field::new();
    let path = field.rig.work().join("sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let unix = |address: &str| {
        perl(&format!(
            "use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die $!; \
             connect($s, pack_sockaddr_un(\"{address}\")) or die $!; print 'escaped'"
        ))
    };
    field.is_stopped(none(), unix(path.to_str().unwrap())).await;
    let name = format!("argvault-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    field.is_stopped(none(), unix(&format!("\\0{name}"))).await;
    let datagrams = field.rig.work().join("log");
    let _log = UnixDatagram::bind(&datagrams).unwrap();
    let pair = format!(
        "use Socket; socketpair(my $a, my $b, PF_UNIX, SOCK_DGRAM, 0) or die $!; \
         send($a, 'x', 0, pack_sockaddr_un('{}')) or die $!; print 'escaped'",
        datagrams.display()
    );
    field.is_stopped(none(), perl(&pair)).await;
    let stream =
        perl("use Socket; socketpair(my $a, my $b, PF_UNIX, SOCK_STREAM, 0) or die $!; print 'fine'");
    assert_eq!(field.run(Some(&none()), &stream).await.1, "fine");
}

#[tokio::test]
async fn only_listed_ports_are_reached() {
    if !expected(4) {
        return;
    }
    let field = Field::new();
    let [open, shut] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let [open_port, shut_port] = [&open, &shut].map(|listener| listener.local_addr().unwrap().port());
    let some = json!({ "level": "required", "network": { "connectTcp": [open_port] } });
    assert_eq!(field.run(Some(&some), &connect(open_port)).await.1, "escaped");
    field.is_stopped(some.clone(), connect(shut_port)).await;
    // Fast Open connects with the first bytes, past the check of connect(2) on many kernels.
    field
        .is_stopped_without_twin(
            some.clone(),
            tcp(shut_port, "send($s, 'x', 0x20000000, $a) and print 'escaped'"),
        )
        .await;
    field.is_stopped(some.clone(), tcp(0, "listen($s, 1) and print 'escaped'")).await;
    field.is_stopped(some.clone(), tcp(0, "bind($s, $a) and print 'escaped'")).await;
    let udp = perl("use Socket; socket(my $s, PF_INET, SOCK_DGRAM, 0) and print 'escaped'");
    field.is_stopped(some, udp).await;
}
