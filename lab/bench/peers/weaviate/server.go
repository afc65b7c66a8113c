package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// server is a running Weaviate.
type server struct {
	command    *exec.Cmd
	rest, grpc string // its addresses
}

// startTime is the longest wait for the first answer.
const startTime = 2 * time.Minute

// start runs Weaviate with its data in dir and waits until it answers.
func start(dir string) (*server, error) {
	ports, err := freePorts(6)
	if err != nil {
		return nil, err
	}
	s := &server{rest: "http://127.0.0.1:" + ports[0], grpc: "127.0.0.1:" + ports[1]}
	s.command = exec.Command(os.Getenv("WEAVIATE_SERVER"), "--host", "127.0.0.1", "--port", ports[0], "--scheme", "http")
	s.command.Env = append(os.Environ(), "PERSISTENCE_DATA_PATH="+dir, "GRPC_PORT="+ports[1], "CLUSTER_GOSSIP_BIND_PORT="+
		ports[2], "CLUSTER_DATA_BIND_PORT="+ports[3],
		"RAFT_PORT="+ports[4], "RAFT_INTERNAL_RPC_PORT="+ports[5], "CLUSTER_HOSTNAME=node1",
		"CLUSTER_ADVERTISE_ADDR=127.0.0.1", "CLUSTER_BIND_ADDR=127.0.0.1",
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "DEFAULT_VECTORIZER_MODULE=none", "API_BASED_MODULES_DISABLED=true",
		"DISABLE_TELEMETRY=true",
		"GO_PROFILING_DISABLE=true", "LOG_LEVEL=error")
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < startTime; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get(s.rest + "/v1/.well-known/ready")
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return s, nil
		}
	}
	_ = s.stop()
	return nil, fmt.Errorf("%s does not answer within %v", s.command.Path, startTime)
}

// stop stops the server, which first writes pending data.
func (s *server) stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = s.command.Wait() // its status only says that it was stopped
	return nil
}

// freePorts returns unused ports.
func freePorts(n int) ([]string, error) {
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // keep all ports until all are known
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
