import { exitCodes } from './node/node-error.ts'

/** What "deckhand help" prints. */
export const helpText = `Deckhand: a Kubernetes node on one machine. Needs Linux and root.

Usage: deckhand COMMAND [options]

  up        run the node in the foreground: a container runtime, a pod network, a Kubernetes API
            for kubectl and the agent
  down      stop everything: the agent, all pods, the runtime, the network; keeps the files.
            Pods get their grace period, but preStop hooks do not run
  shutdown  end all pods, the least important first, because the machine is going to be shut down;
            returns when they have ended. The agent stays, and takes no new pods
  status    say what runs
  why POD   say why a pod is as it is, and what was done for it, step by step
  version   say which version this is
  help      this text

Options of all:
  --state DIR             the node's folder (/var/lib/deckhand)

Options of up:
  --manifests DIR         run the pods of the manifests in this folder (<state>/manifests)
  --apply DIR             apply the objects in the YAML and JSON files of this folder, again when they
                          change; what leaves the folder is deleted
  --runtime unix:///PATH  use this CRI runtime or Docker; without it a private containerd is started
  --runtime docker        use Docker at /var/run/docker.sock
  --runtime auto          a private containerd where containerd is installed, else Docker
  --kubelet PATH          run this kubelet as the agent; without it our own
  --cgroup-root PATH      the cgroup of all pods (/deckhand)
  --api-port N            the Kubernetes API, on loopback (6443)
  --port N                the agent's own API, on loopback (10250)
  --healthz-port N        its health, on loopback (10248)

Settings of the agent: put KubeletConfiguration files, named *.conf, into <state>/kubelet.conf.d. They
  are merged in the order of their names when the agent starts; "up" rejects them when they are wrong.

Options of down:
  --purge                 remove the node's folder too: images, logs, manifests, settings, the API's objects

Options of shutdown:
  --root-dir DIR          the root directory of an agent that runs by itself, as "kubelet"; without it the
                          agent of --state, or where there is none the one of /var/lib/kubelet
  --cancel                the machine stays: take pods again, and leave those that run

Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  failed; the message says why
  ${exitCodes.wrongArguments}  wrong arguments
  ${exitCodes.otherState}  up: it runs already; status, why, shutdown: it does not run
  ${exitCodes.unfitMachine}  the machine lacks something: root, a program, a free port, a writable folder`
