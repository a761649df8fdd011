/** A standalone node on a virtual machine, for pods that come from an API: the machine's own containerd, the systemd cgroup driver. */
import assert from 'node:assert/strict'
import type { Node } from '../../../src/model/generated/core-v1.ts'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { Guest } from '../../../tools/vm/guest.ts'
import { PATIENCE_SECONDS } from './machine-facts.ts'
import type { Manifest } from './node-agent.ts'

const STATE = '/var/lib/deckhand'
const DECKHAND = '/opt/deckhand/bin/deckhand'
const UNIT = 'api-node'
const KEYS = '/root/api-node'
const POLL_MS = 2000
// An exit code that curl does not have.
const ENDED = 200
// Each takes memory and CPU time that the checks do not need.
const leftOut = 'deployments,daemonsets,statefulsets,jobs,budgets,autoscalers,services,dns,policies,ingress,storage'

const CURL = `curl -sS --cacert ${KEYS}/certificate-authority --cert ${KEYS}/client-certificate --key ${KEYS}/client-key`

export class ApiNode implements AsyncDisposable {
  readonly guest: Guest

  private constructor(guest: Guest) {
    this.guest = guest
  }

  /** With an empty API and these settings of the agent beside the usual ones. */
  static async start(guest: Guest, settings: Readonly<Record<string, unknown>> = {}): Promise<ApiNode> {
    const text = JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'systemd',
      ...settings,
    })
    await guest.write(`${STATE}/kubelet.conf.d/10-machine.conf`, `${text}\n`)
    const up = `${DECKHAND} up --runtime unix:///run/containerd/containerd.sock --without ${leftOut} --page-port 0`
    await guest.run(`systemd-run --collect --unit=${UNIT} --property=KillMode=process --property=Delegate=yes ${up}`)
    await guest.until(`test -s ${STATE}/admin.kubeconfig`, PATIENCE_SECONDS)
    await guest.run(
      `mkdir -p ${KEYS} && for name in certificate-authority client-certificate client-key; do sed -n "s/^ *$name-data: //p" ${STATE}/admin.kubeconfig | base64 -d > ${KEYS}/$name; done`,
    )
    const node = new ApiNode(guest)
    await node.waitForNode((each) => hasCondition(each, 'Ready', 'True'), 'ready')
    return node
  }

  /** GET of the Kubernetes API; undefined while it does not answer or has no such object. Fails when the node has ended. */
  async get<T>(path: string): Promise<T | undefined> {
    const { exitCode, stdout } = await this.guest.attempt(
      `${CURL} --fail 'https://127.0.0.1:6443${path}' || { systemctl is-active --quiet ${UNIT} || exit ${ENDED}; exit 1; }`,
    )
    if (exitCode === ENDED) throw new Error(`The node has ended by itself:\n${await this.#log()}`)
    return exitCode === 0 ? (JSON.parse(stdout) as T) : undefined
  }

  async send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: unknown): Promise<void> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json'
    await this.guest.run(
      `${CURL} --fail-with-body -X ${method} -H 'Content-Type: ${type}' --data @- -o /tmp/answer 'https://127.0.0.1:6443${path}' || { cat /tmp/answer; exit 1; }`,
      { stdin: JSON.stringify(body) },
    )
  }

  async create(...pods: readonly Manifest[]): Promise<void> {
    for (const pod of pods) await this.send('POST', '/api/v1/namespaces/default/pods', pod)
  }

  async waitForPod(name: string, isSo: (pod: Pod) => boolean, what: string): Promise<Pod> {
    return await this.waitFor(`/api/v1/namespaces/default/pods/${name}`, isSo, `pod ${name} is ${what}`)
  }

  async waitUntilReady(...names: readonly string[]): Promise<readonly Pod[]> {
    const pods: Pod[] = []
    for (const name of names)
      pods.push(await this.waitForPod(name, (pod) => hasCondition(pod, 'Ready', 'True'), 'ready'))
    return pods
  }

  async waitForNode(isSo: (node: Node) => boolean, what: string): Promise<Node> {
    const isList = ({ items }: { readonly items: readonly Node[] }) => items[0] !== undefined && isSo(items[0])
    const { items } = await this.waitFor('/api/v1/nodes', isList, `the node is ${what}`)
    return items[0] as Node
  }

  /** The folder of the cgroup of a pod's first container. */
  async containerCgroup(pod: Pod): Promise<string> {
    const id = pod.status?.containerStatuses?.[0]?.containerID?.split('//')[1]
    return await this.guest.run(`find /sys/fs/cgroup -type d -name '*${id}.scope'`)
  }

  /** Ends pods, agent and API, of which nothing is left; the next one begins with an empty API. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.guest.run(`systemctl stop ${UNIT}; ${DECKHAND} down && rm -rf --one-file-system ${STATE} ${KEYS}`)
    const left = `find /sys/fs/cgroup -name 'deckhand*'; systemctl list-units --all --plain --no-legend 'deckhand*.slice'`
    assert.equal(await this.guest.run(left), '')
  }

  async waitFor<T>(path: string, isSo: (found: T) => boolean, what: string): Promise<T> {
    const end = Date.now() + PATIENCE_SECONDS * 1000
    for (;;) {
      const found = await this.get<T>(path)
      if (found !== undefined && isSo(found)) return found
      if (Date.now() > end)
        throw new Error(`Not after ${PATIENCE_SECONDS} s: ${what}: ${JSON.stringify(found)}\n${await this.#log()}`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  async #log(): Promise<string> {
    return (await this.guest.attempt(`journalctl -u ${UNIT} -n 20 --no-pager; tail -20 ${STATE}/logs/kubelet.log`))
      .stdout
  }
}

interface Conditioned {
  readonly status?:
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined }
    | undefined
}

export function hasCondition({ status }: Conditioned, type: string, value: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === value) ?? false
}
