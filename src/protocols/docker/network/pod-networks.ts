import type { Clock } from '../../../base/async/clock.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { RecordFolder } from '../../../system/files/state/create-record-folder.ts'
import { hasProcessWithVariable } from '../../../system/processes/has-process-with-variable.ts'
import { CniError } from '../../cni/cni-error.ts'
import type { CniRecord } from '../../cni/cni-record.ts'
import { CniRecords } from '../../cni/cni-records.ts'
import type { CniAttachment } from '../../cni/compute-plugin-call.ts'
import { loadNetwork } from '../../cni/load-network.ts'
import { parseKeptNetwork } from '../../cni/parse-network.ts'
import type { CniNetwork } from '../../cni/parse-network.ts'
import { readAddresses } from '../../cni/read-result.ts'
import { addToNetwork, checkNetwork, deleteFromNetwork } from '../../cni/run-plugins.ts'
import type { CniDeps } from '../../cni/run-plugins.ts'
import type { PodSandboxConfig } from '../../cri/generated/runtime-v1.ts'
import { computeCapabilities } from './compute-capabilities.ts'

/** Where CNI has its files, and whether new pods get their network from it. */
export interface NetworkSettings {
  readonly enabled: boolean
  readonly configurations: string
  readonly programs: readonly string[]
  readonly mtu: number
  /** Holds the records of the pods that are attached. */
  readonly records: RecordFolder
}

export interface NetworkDeps {
  readonly settings: NetworkSettings
  /** The socket of Docker, by which records are distinguished from those of others. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Logger
}

/** Whose network it is. */
export interface NetworkPod {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

const DEVICE = 'eth0'
const LOOPBACK: CniNetwork = {
  name: 'cni-loopback',
  version: '0.4.0',
  disableCheck: true,
  plugins: [{ type: 'loopback', capabilities: [], settings: { type: 'loopback' } }],
  text: '',
}
const NOT_READY = 'docker: network plugin is not ready:'
// How often a plugin of an earlier agent is looked for, and for how long: then it hangs.
const PLUGIN_POLL_MS = 50
const PLUGIN_LONGEST_MS = 30_000

/** The networks of sandboxes that Docker gives none: CNI plugins set them up, and what these say is kept until they took them down again. */
export class PodNetworks {
  readonly #settings: NetworkSettings
  readonly #owner: string
  readonly #log: Logger
  readonly #records: CniRecords
  readonly #plugins: CniDeps
  readonly #underWay = new Set<string>()
  readonly #checked = new Set<string>()
  #checks: Promise<void> = Promise.resolve()
  #skipped = ''
  #podCidr = ''

  constructor({ settings, owner, clock, log }: NetworkDeps) {
    this.#settings = settings
    this.#owner = owner
    this.#log = log
    this.#records = new CniRecords(settings.records, log)
    this.#plugins = { programs: settings.programs, mtu: settings.mtu, clock }
  }

  /** Do new sandboxes get their network from plugins? */
  get enabled(): boolean {
    return this.#settings.enabled
  }

  /** The addresses that the cluster gave to pods of this node. */
  setPodCidr(podCidr: string): void {
    this.#podCidr = podCidr
  }

  /** Why pods cannot have a network now, in the words of the kubelets that had this setting. */
  async findFault(): Promise<string | undefined> {
    if (!this.enabled) return undefined
    const network = await this.#load()
    if (network === undefined) return `${NOT_READY} cni config uninitialized`
    const needsRanges = network.plugins.some(({ capabilities }) => capabilities.includes('ipRanges'))
    if (needsRanges && this.#podCidr === '') return `${NOT_READY} cni config needs ipRanges but no PodCIDR set`
    return undefined
  }

  /** A sandbox that is being attached is not listed: it is neither ready nor ended. Disposing ends this. */
  begin(id: string): Disposable {
    this.#underWay.add(id)
    return { [Symbol.dispose]: () => void this.#underWay.delete(id) }
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id)
  }

  /** Attaches a new sandbox. After a failure nothing is left of it, unless taking it down failed too: then the error says so. */
  async setUp(
    id: string,
    { namespace, config }: { readonly namespace: string; readonly config: PodSandboxConfig },
    signal: AbortSignal,
  ): Promise<void> {
    const pod: NetworkPod = { name: '', namespace: '', uid: '', ...config.metadata }
    try {
      const network = await this.#load()
      if (network === undefined) throw new CniError('cni config uninitialized')
      const capabilities = computeCapabilities(config, this.#podCidr)
      const attachment = { containerId: id, namespace, device: DEVICE, args: toArgs(id, pod), capabilities }
      await addToNetwork(this.#plugins, LOOPBACK, { ...attachment, device: 'lo' }, signal)
      const result = await addToNetwork(this.#plugins, network, attachment, signal)
      const { name: networkName, text: configuration } = network
      this.#checked.add(id)
      await this.#records.write({ attachment, networkName, configuration, result, owner: this.#owner })
    } catch (error) {
      signal.throwIfAborted()
      throw new CniError(
        `failed to set up sandbox container "${id}" network for pod "${pod.name}": networkPlugin cni failed to set up pod "${fullName(pod)}" network: ${errorMessage(error)}`,
        { cause: error },
      )
    }
  }

  /** Detaches a sandbox by what it was attached by; one without a record by what is configured now. */
  async tearDown(id: string, namespace: string, pod: NetworkPod, signal: AbortSignal): Promise<void> {
    const record = await this.#records.find(id, DEVICE)
    try {
      if (record === undefined) await this.#detachUnknown(id, namespace, pod, signal)
      else await this.#detach(record, namespace, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw new CniError(
        `networkPlugin cni failed to teardown pod "${fullName(pod)}" network: ${errorMessage(error)}`,
        { cause: error },
      )
    }
    this.#checked.delete(id)
  }

  async hasRecord(id: string): Promise<boolean> {
    return (await this.#records.find(id, DEVICE)) !== undefined
  }

  /** The addresses of a sandbox; undefined when it was never attached, or not to the end. */
  async addresses(id: string): Promise<readonly string[] | undefined> {
    const record = await this.#records.find(id, DEVICE)
    return record && readAddresses(record.result, DEVICE)
  }

  /** Has the plugins check what an earlier agent attached, once and after each other. What they find is for people to read. */
  check(id: string, namespace: string, signal: AbortSignal): void {
    if (this.#checked.has(id)) return
    this.#checked.add(id)
    this.#checks = this.#checks.then(async () => {
      const record = await this.#records.find(id, DEVICE)
      if (record === undefined) return
      const attachment = { ...record.attachment, namespace }
      await checkNetwork(this.#plugins, parseKeptNetwork(record.configuration), attachment, record.result, signal)
    })
    this.#checks = this.#checks.catch((error: unknown) => {
      // No warning: plugins are known to be wrong here, portmap for instance about ports of pods with addresses of both families.
      if (!signal.aborted) this.#log.info('a CNI plugin finds the network of a pod changed', { sandbox: id, error })
    })
  }

  /** The sandboxes with a record; to be asked before Docker is asked which ones it has. */
  async listAttached(): Promise<readonly CniRecord[]> {
    return await this.#records.listOwn(this.#owner)
  }

  /** Detaches what was attached and is gone from Docker, for instance because it was removed by hand. */
  async sweep(attached: readonly CniRecord[], present: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    for (const { attachment } of attached) {
      const id = attachment.containerId
      if (present.has(id) || this.isUnderWay(id)) continue
      using _ = this.begin(id)
      const pod = toPod(attachment)
      try {
        await this.tearDown(id, '', pod, signal)
        this.#log.info('took down the network of a sandbox that is gone', { sandbox: id, pod: fullName(pod) })
      } catch (error) {
        signal.throwIfAborted()
        this.#log.warn('cannot take down the network of a sandbox that is gone', { sandbox: id, error })
      }
    }
  }

  async #detach(record: CniRecord, namespace: string, signal: AbortSignal): Promise<void> {
    const network = parseKeptNetwork(record.configuration)
    await deleteFromNetwork(this.#plugins, network, { ...record.attachment, namespace }, record.result, signal)
    await this.#records.remove(record)
  }

  /** An agent that ended in between may have attached it in part. */
  async #detachUnknown(id: string, namespace: string, pod: NetworkPod, signal: AbortSignal): Promise<void> {
    const network = await this.#load()
    if (network === undefined) return
    await this.#waitForPlugins(id, signal)
    const attachment = { containerId: id, namespace, device: DEVICE, args: toArgs(id, pod), capabilities: {} }
    await deleteFromNetwork(this.#plugins, network, attachment, undefined, signal)
  }

  /** A plugin that an earlier agent started goes on after the end of that agent: what it attaches after a sandbox was detached would stay for good. */
  async #waitForPlugins(id: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#plugins
    const until = clock.monotonic() + PLUGIN_LONGEST_MS
    while (clock.monotonic() < until && (await hasProcessWithVariable(`CNI_CONTAINERID=${id}`)))
      await clock.sleep(PLUGIN_POLL_MS, signal)
  }

  async #load(): Promise<CniNetwork | undefined> {
    const { network, skipped } = await loadNetwork(this.#settings.configurations)
    const reasons = skipped.join('; ')
    if (reasons !== this.#skipped && reasons !== '') this.#log.warn('skipping CNI configurations', { reasons })
    this.#skipped = reasons
    return network
  }
}

function fullName({ name, namespace }: NetworkPod): string {
  return `${name}_${namespace}`
}

function toArgs(id: string, { name, namespace, uid }: NetworkPod): CniAttachment['args'] {
  return [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAMESPACE', namespace],
    ['K8S_POD_NAME', name],
    ['K8S_POD_INFRA_CONTAINER_ID', id],
    ['K8S_POD_UID', uid],
  ]
}

function toPod({ args }: CniAttachment): NetworkPod {
  const values = new Map(args)
  return {
    name: values.get('K8S_POD_NAME') ?? '',
    namespace: values.get('K8S_POD_NAMESPACE') ?? '',
    uid: values.get('K8S_POD_UID') ?? '',
  }
}
