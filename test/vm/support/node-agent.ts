/** The agent on a virtual machine, installed as the docs say: the unit for systemd, a configuration file, a folder of manifests. */
import assert from 'node:assert/strict'
import type { Pod } from '../../../src/model/pod/pod.ts'
import type { Guest } from '../../../tools/vm/guest.ts'
import { PAYLOAD } from '../../../tools/vm/image-files.ts'
import { PATIENCE_SECONDS } from './machine-facts.ts'

const MANIFESTS = '/etc/kubernetes/manifests'
const SOCKET = '/var/lib/kubelet/deckhand/agent.sock'
const CGROUPS = '/sys/fs/cgroup'

export type Manifest = { readonly metadata: { readonly name: string } } & Readonly<Record<string, unknown>>

export class NodeAgent {
  readonly guest: Guest

  constructor(guest: Guest) {
    this.guest = guest
  }

  /** Once for each machine: images, the unit. */
  async install(): Promise<void> {
    // Under emulation an agent may be late although nothing is wrong; the check of the watchdog has a limit of its own.
    await this.guest.write('/etc/systemd/system/kubelet.service.d/emulated.conf', '[Service]\nWatchdogSec=900\n')
    await this.guest.run(
      `ctr -n k8s.io images import ${PAYLOAD}/images/node.tar && mkdir -p ${MANIFESTS} && cp /opt/deckhand/docs/kubelet.service /etc/systemd/system/ && systemctl daemon-reload && systemctl enable kubelet`,
    )
  }

  /** Takes the unit and its configuration away again. */
  async uninstall(): Promise<void> {
    await this.start()
    await this.stop()
    await this.guest.run(
      'systemctl disable kubelet && rm -r /etc/systemd/system/kubelet.service* /var/lib/kubelet/config.yaml && systemctl daemon-reload',
    )
  }

  /** An agent with these settings beside the usual ones and with no pod: what an earlier suite left is ended first. */
  async start(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    if ((await this.guest.attempt('systemctl is-active kubelet')).exitCode === 0) await this.stop()
    await this.startBeside(settings)
  }

  /** The same, with the pods that are there. */
  async startBeside(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const text = `${JSON.stringify({ ...usualSettings, ...settings }, undefined, 2)}\n`
    await this.guest.write('/var/lib/kubelet/config.yaml', text)
    await this.guest.run('systemctl start kubelet')
  }

  /** Ends its pods, then itself; forgets what CPUs and memory it had given away. */
  async stop(): Promise<void> {
    await this.clear()
    await this.guest.run('systemctl stop kubelet && rm -f /var/lib/kubelet/*_manager_state')
  }

  /** Removes all manifests and waits until nothing of their pods is left. */
  async clear(): Promise<void> {
    await this.guest.run(`rm -f ${MANIFESTS}/*`)
    await this.guest.until(
      `! find ${CGROUPS}/kubepods.slice -mindepth 1 -name '*-pod*.slice' | grep .`,
      PATIENCE_SECONDS,
    )
  }

  async apply(...pods: readonly Manifest[]): Promise<void> {
    for (const pod of pods) await this.guest.write(`${MANIFESTS}/${pod.metadata.name}.yaml`, `${JSON.stringify(pod)}\n`)
  }

  async remove(...names: readonly string[]): Promise<void> {
    await this.guest.run(`rm -f ${names.map((name) => `${MANIFESTS}/${name}.yaml`).join(' ')}`)
  }

  /** GET on the agent's own socket. */
  async get(path: string): Promise<string> {
    // The socket is there some time after the service is ready: 7 means that nothing listens yet.
    const curl = `curl -sS --fail-with-body --unix-socket ${SOCKET} 'http://agent${path}'`
    return await this.guest.run(
      `for try in $(seq 120); do ${curl}; code=$?; [ $code = 7 ] || exit $code; sleep 1; done 2> /dev/null; exit 7`,
    )
  }

  async pods(): Promise<readonly Pod[]> {
    return (JSON.parse(await this.get('/pods')) as { readonly items: readonly Pod[] | null }).items ?? []
  }

  /** A pod by its name in the manifest; the agent adds the node's. */
  async findPod(name: string): Promise<Pod | undefined> {
    return (await this.pods()).find((pod) => pod.metadata.name?.startsWith(`${name}-`))
  }

  /** Polls until the pod is so. */
  async waitForPod(name: string, isSo: (pod: Pod) => boolean, what: string): Promise<Pod> {
    const end = Date.now() + PATIENCE_SECONDS * 1000
    for (;;) {
      const pod = await this.findPod(name)
      if (pod !== undefined && isSo(pod)) return pod
      if (Date.now() > end)
        throw new Error(`Pod ${name} is not ${what} after ${PATIENCE_SECONDS} s: ${JSON.stringify(pod?.status)}`)
      await new Promise((resolve) => setTimeout(resolve, 2000))
    }
  }

  async waitUntilReady(...names: readonly string[]): Promise<readonly Pod[]> {
    const pods: Pod[] = []
    for (const name of names) pods.push(await this.waitForPod(name, isReady, 'ready'))
    return pods
  }

  /** The folder of a pod's cgroup. */
  async podCgroup(name: string): Promise<string> {
    const pod = await this.findPod(name)
    assert.ok(pod?.metadata.uid !== undefined, `no pod ${name}`)
    const uid = pod.metadata.uid.replaceAll('-', '_')
    return await this.guest.run(`find ${CGROUPS} -type d -name '*pod${uid}.slice'`)
  }

  /** The folder of a container's cgroup. */
  async containerCgroup(name: string, container = 'main'): Promise<string> {
    const pod = await this.findPod(name)
    const id = pod?.status?.containerStatuses?.find((status) => status.name === container)?.containerID?.split('//')[1]
    assert.ok(id !== undefined, `container ${container} of pod ${name} does not run`)
    return await this.guest.run(`find ${CGROUPS} -type d -name '*${id}.scope'`)
  }

  /** Files of one cgroup by name; undefined where there is no such file. */
  async readCgroup(folder: string, files: readonly string[]): Promise<Readonly<Record<string, string | undefined>>> {
    const script = `cd '${folder}' && for file in ${files.join(' ')}; do if [ -e $file ]; then echo "$file=$(tr '\\n' ' ' < $file)"; fi; done`
    const lines = (await this.guest.run(script)).split('\n')
    return Object.fromEntries(
      files.map((file) => [
        file,
        lines
          .find((line) => line.startsWith(`${file}=`))
          ?.slice(file.length + 1)
          .trim(),
      ]),
    )
  }

  /** What a container has written to its log. */
  async log(name: string): Promise<string> {
    return await this.guest.run(`cat /var/log/pods/*_${name}-*/*/*.log`)
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
}

const usualSettings = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  staticPodPath: MANIFESTS,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupDriver: 'systemd',
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  failSwapOn: false,
  // Under emulation a runtime may take minutes although nothing is wrong.
  runtimeRequestTimeout: '15m',
  evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
}
