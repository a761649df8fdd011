import { exitCodes } from './node/node-error.ts'

/** A command as its help describes it. */
interface CommandHelp {
  readonly usage: string
  /** For the list of all commands. */
  readonly summary: string
  /** The rest, for those who ask about this command. */
  readonly details: string
}

const STATE = `  --state DIR             the node's folder (/var/lib/deckhand)`

const UP_OPTIONS = `${STATE}
  --manifests DIR         run the pods of the manifests in this folder (<state>/manifests)
  --apply DIR             apply the objects in the YAML and JSON files of this folder and its sub-folders,
                          again when they change or others change the objects; what leaves the folder is
                          deleted. A sub-folder with a kustomization.yaml is built with kubectl
  --runtime unix:///PATH  use this CRI runtime or Docker; without it a private containerd is started
  --runtime docker        use Docker at /var/run/docker.sock
  --runtime auto          a private containerd where containerd is installed, else Docker
  --oci-runtime PROGRAM   what the private containerd runs containers with (crun where it is installed and
                          runs, else runc)
  --kubelet PATH          run this kubelet as the agent; without it our own
  --without PART,...      leave parts out: deployments (with their replica sets), daemonsets,
                          statefulsets, jobs (with cron jobs), budgets (of disruptions), autoscalers, services,
                          dns, policies (of the network), ingress, storage (folders as volumes of claims). Their
                          objects are refused then, and those that are there stay as they are. taints: no pod
                          is evicted for a NoExecute taint. scheduler: for a scheduler of yours, which has to
                          bind pods to the node
  --cgroup-root PATH      the cgroup of all pods (/deckhand; with another --state one of its own)
  --address ADDRESS       serve the Kubernetes API and the agent on this address of the machine for other
                          machines, with certificates for it and never without a credential; the API
                          on loopback too. One of IPv4 and one of IPv6 if there is a comma between
                          them: the agent then takes the first. Without it all is on loopback
  --api-port N            the Kubernetes API (6443)
  --port N                the agent's own API (10250)
  --healthz-port N        its health, on loopback (10248)
  --ip-families LIST      the families of pods and services: IPv4 (default), or IPv4,IPv6
  --page-port N           the page to look at, on loopback (6080); 0: none
  --ingress-http-port N   serve Ingresses on this port of all addresses of the machine, as 80; without it and
  --ingress-https-port N  this one, as 443, none are served, and none are taken`

const commands: Readonly<Record<string, CommandHelp>> = {
  up: {
    usage: 'deckhand up [options]',
    summary: `run the node in the foreground: a container runtime, a pod network, a Kubernetes API
for kubectl and the agent`,
    details: `Options:
${UP_OPTIONS}
  --detach                return when the node is up, and leave it running; "down" stops it
  --wait[=TIME]           as --detach, and return only when all files are applied and all pods are ready;
                          after TIME (5m), as in 90s or 10m, or when only refused files are left, say
                          what is not ready and fail. The node stays up in both cases. Without other
                          options it waits for a node that is up already

Settings of the agent: put KubeletConfiguration files, named *.conf, into <state>/kubelet.conf.d. They
  are merged in the order of their names when the agent starts; "up" rejects them when they are wrong.`,
  },
  down: {
    usage: 'deckhand down [options]',
    summary: `stop everything: the agent, all pods, the runtime, the network; keeps the files.
Pods get their grace period, but preStop hooks do not run`,
    details: `Options:
${STATE}
  --purge                 remove the node's folder too: images, logs, manifests, settings, the API's objects`,
  },
  shutdown: {
    usage: 'deckhand shutdown [options]',
    summary: `end all pods, the least important first, because the machine is going to be shut down;
returns when they have ended. The agent stays, and takes no new pods`,
    details: `The pods run again when the node is back, or when the shutdown is cancelled; those with
"restartPolicy: Never" do not.

Options:
${STATE}
  --root-dir DIR          the root directory of an agent that runs by itself, as "kubelet"; without it the
                          agent of --state, or where there is none the one of /var/lib/kubelet
  --cancel                the machine stays: take pods again, and leave those that run`,
  },
  status: {
    usage: 'deckhand status [options]',
    summary: 'say what runs, and which files are refused',
    details: `Fails when a manifest or a file of --apply is refused, and says which, where and why.

Options:
${STATE}`,
  },
  why: {
    usage: 'deckhand why NAME [options]',
    summary: 'say why a pod is as it is, and what was done for it, step by step',
    details: `NAME is that of a pod or a workload, as "web", "default/web" or "deployment/web", or of a file that was
refused.

Options:
${STATE}
  -n, --namespace NAME    its namespace, as for kubectl
  --root-dir DIR          the root directory of an agent that runs by itself, as "kubelet"; without it the
                          agent of --state, or where there is none the one of /var/lib/kubelet`,
  },
  page: {
    usage: 'deckhand page [options]',
    summary: 'print a link to the page of the node, which signs in once; or serve that of another node',
    details: `The page shows the node, its pods with what they use and why they are as they are, events and logs. It is
served by "deckhand up" on loopback, for browsers on this machine or behind "ssh -L 6080:127.0.0.1:6080".
A link can be used once, within 15 minutes.

Options:
${STATE}
  --read-only             for a user who may read everything but secrets; without it, what the
                          administrator may
  --kubeconfig FILE       serve the page here, until Ctrl-C, for a node of the cluster of this file,
                          with the rights of the file; any kubelet will do
  --node NAME             which node of that cluster; may be left out where there is only one
  --kubelet ADDRESS       ask a kubelet itself, at its own port (https://HOST:10250), in place of the server of
                          the file: pods, usage, logs, terminals and ports, but no events and no changes
  --page-port N           on which port of loopback; one that is free if it is left out`,
  },
  logs: {
    usage: 'deckhand logs [agent|api|controllers|runtime|up] [options]',
    summary: 'show the log of a part of the node: the agent, if none is named',
    details: `"api" is the Kubernetes API with the scheduler, "controllers" what makes pods for Deployments
and the like, "runtime" the private containerd, "up" what "up --detach" said. For the logs of pods use "kubectl logs".

Options:
${STATE}
  -f, --follow            go on with what is added
  -n, --lines N           how many of the last lines to show (100)`,
  },
  images: {
    usage: 'deckhand images ls|pull|load|save|rm [NAME or FILE ...] [options]',
    summary: 'list, pull, load, save and remove the images of the node',
    details: `  ls                      list the images, and how many pods use each
  pull NAME ...           pull images with the logins of the node
  load [FILE ...]         load images from tar files of "docker save" or of OCI image layouts, compressed or
                          not, from folders with such a layout, or from standard input
  save NAME ... [-o FILE] save images as such a tar file, or to standard output
  rm NAME ...             remove images that no pod uses

Options:
${STATE}
  --name NAME             load: the name of an image that has none in its file, or another one
  -o, --output FILE       save: where to`,
  },
  kubeconfig: {
    usage: 'deckhand kubeconfig [options]',
    summary: 'print a kubeconfig file for other machines; the node needs "up --address"',
    details: `It has the key of the administrator, who may do everything: keep it as you keep the machine's passwords.
A copy works for a year.

Options:
${STATE}
  --address ADDRESS       the address of the node in it (the first one of "up --address")
  --reader                for a user who may read everything but secrets`,
  },
  backup: {
    usage: 'deckhand backup FILE [options]',
    summary: 'save the objects, manifests and settings of the node, running or not',
    details: `FILE gets what belongs together at one moment; secrets in it stay encrypted. FILE.keys gets the keys of the
node, without which nothing can read them. Data of volumes and images are in neither.

Options:
${STATE}`,
  },
  restore: {
    usage: 'deckhand restore FILE [options]',
    summary: 'put a backup in the place of what a stopped node has',
    details: `All of FILE is checked first: a wrong one changes nothing. What was there before is kept in a folder
before-restore-TIME below the node's folder.

Options:
${STATE}
  --keys FILE             the keys of the backup (FILE.keys, or those that the node has if they are the same)`,
  },
  reset: {
    usage: 'deckhand reset --yes [options]',
    summary: 'stop everything and begin again with an empty API; images, manifests and settings stay',
    details: `Removes all objects, the keys of the API (so all kubeconfig files get new credentials), the data of pods
and of the volumes that were made for claims (<state>/volumes), and the logs. "down --purge" removes the rest too.

Options:
${STATE}
  --yes                   really do it`,
  },
  install: {
    usage: 'deckhand install [options of up]',
    summary: 'start the node now and at each boot, as a service of systemd',
    details: `The service is called deckhand. It runs "deckhand up" with these options:
${UP_OPTIONS}`,
  },
  uninstall: {
    usage: 'deckhand uninstall',
    summary: 'stop the service and start it no more; pods go on until "down"',
    details: '',
  },
  simulate: {
    usage: 'deckhand simulate --nodes N --kubeconfig FILE [options]',
    summary: 'run many nodes in one process, with containers that are simulated, for tests of clusters',
    details: `Each node registers, renews its lease, takes the pods that are bound to it and reports them, as the agent does
everywhere; nothing runs, and no packet goes to a pod. Logs, exec and metrics of the nodes cannot be asked for.
It needs no root. SIGINT or SIGTERM ends it.

Options:
  --nodes N               how many, up to 10000
  --kubeconfig FILE       the cluster; its user has to be allowed to do what nodes do
  --prefix TEXT           the beginning of their names, a number follows (simulated-)
  --capacity NAME=N,...   what each of them has (cpu=4,memory=16Gi,pods=110,ephemeral-storage=100Gi)
  --labels NAME=VALUE,... labels of the nodes
  --taints KEY=VALUE:EFFECT,...
                          taints of the nodes
  --start-time TIME       how long the start of a container takes, as in 2s, or by chance as in 500ms-3s (0s)
  --rules FILE            what containers do: a YAML file with a list "rules". The first that matches counts:
                            match: namespace, pod, container, image (* is anything), labels, share (0 to 1)
                            startTime, pullTime (by image alone), startFailure (a text), readyAfter (for
                            probes), exitsAfter, exitCode, cpu, memory, ignoresTerm
  --at-end WORD           remove: the nodes with their pods; mark: as not ready; keep (remove)
  --report-every TIME     how often it says what it does and costs (10s)`,
  },
  version: { usage: 'deckhand version', summary: 'say which version this is', details: '' },
  help: { usage: 'deckhand help [COMMAND]', summary: 'this text, or that of a command', details: '' },
}

/** All commands, in the order of the help. */
export const commandNames: readonly string[] = Object.keys(commands)

/** What "deckhand help" prints, or "deckhand COMMAND --help". */
export function helpText(command?: string): string {
  const help = command === undefined ? undefined : commands[command]
  if (help === undefined) return overview()
  return [`Usage: ${help.usage}`, capitalized(help.summary), help.details].filter((part) => part !== '').join('\n\n')
}

// Of the longest name, and a space.
const NAME_WIDTH = Math.max(...commandNames.map((name) => name.length)) + 1

function overview(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => {
    const [first = '', ...rest] = summary.split('\n')
    return [`  ${name.padEnd(NAME_WIDTH)}${first}`, ...rest.map((line) => `  ${''.padEnd(NAME_WIDTH)}${line}`)].join(
      '\n',
    )
  })
  return `Deckhand: a Kubernetes node on one machine. Needs Linux and root.

Usage: deckhand COMMAND [options]

${lines.join('\n')}

"deckhand COMMAND --help" says more about a command.

Option of all:
${STATE}

Exit codes:
  ${exitCodes.done}  done
  ${exitCodes.failed}  failed; the message says why. status: a file is refused
  ${exitCodes.wrongArguments}  wrong arguments
  ${exitCodes.otherState}  up: it runs already; status, why, images, shutdown: it does not run
  ${exitCodes.unfitMachine}  the machine lacks something: root, a program, a free port, a writable folder`
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
