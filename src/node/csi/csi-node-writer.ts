import { KeyedLock } from '../../base/async/keyed-lock.ts'
import { computeCsiNodeChange } from './compute-csi-node-change.ts'
import { computeDriverMarks } from './compute-driver-marks.ts'
import type { DriverMarks } from './compute-driver-marks.ts'
import type { CsiNodeApi } from './csi-node-api.ts'
import type { CsiNode, CsiNodeOwner, DriverInfo, KnownDrivers } from './csi-node-object.ts'

/** There is no Node object yet that the CSINode could belong to. */
export class NodeMissingError extends Error {
  override readonly name = 'NodeMissingError'
}

// Delete, create, remove and add an entry: more steps would never end.
const MOST_STEPS = 4

/** Writes what is known of the drivers to the Node and the CSINode. */
export class CsiNodeWriter {
  readonly #api: CsiNodeApi
  readonly #nodeName: string
  readonly #lock = new KeyedLock()
  readonly #known = new Map<string, DriverInfo | 'gone'>()
  #nodeUid: string | undefined

  constructor(api: CsiNodeApi, nodeName: string) {
    this.#api = api
    this.#nodeName = nodeName
  }

  /** Of the Node that was last read. */
  get nodeUid(): string | undefined {
    return this.#nodeUid
  }

  get(driver: string): DriverInfo | 'gone' | undefined {
    return this.#known.get(driver)
  }

  /** What is written from now on; undefined leaves the driver's entries as they are. */
  set(driver: string, info: DriverInfo | 'gone' | undefined): void {
    if (info === undefined) this.#known.delete(driver)
    else this.#known.set(driver, info)
  }

  /** Writes what has changed, and returns the topologies that could not be reported. One at a time, so that each sees the last write. */
  async write(signal: AbortSignal): Promise<DriverMarks['collisions']> {
    return await this.#lock.hold('write', () => this.#write(signal), signal)
  }

  async #write(signal: AbortSignal): Promise<DriverMarks['collisions']> {
    const known = [...this.#known]
    const [node, csiNode] = await Promise.all([this.#api.getNode(signal), this.#api.getCsiNode(signal)])
    const uid = node?.metadata?.uid
    if (node === undefined || uid === undefined) {
      throw new NodeMissingError(`Cannot report CSI drivers: there is no Node "${this.#nodeName}"`)
    }
    this.#nodeUid = uid
    // The id is on the Node before the CSINode lists the driver, and until it no longer does.
    const come = computeDriverMarks(node, new Map(known.filter(([, info]) => info !== 'gone')))
    const marked = come.patch === undefined ? node : await this.#api.patchNode(come.patch, signal)
    await this.#writeCsiNode(csiNode, { name: this.#nodeName, uid }, new Map(known), signal)
    const gone = computeDriverMarks(marked, new Map(known.filter(([, info]) => info === 'gone')))
    if (gone.patch !== undefined) await this.#api.patchNode(gone.patch, signal)
    for (const [driver, info] of known) {
      if (info === 'gone' && this.#known.get(driver) === 'gone') this.#known.delete(driver)
    }
    return come.collisions
  }

  async #writeCsiNode(
    existing: CsiNode | undefined,
    owner: CsiNodeOwner,
    known: KnownDrivers,
    signal: AbortSignal,
  ): Promise<void> {
    let current = existing
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const change = computeCsiNodeChange(current, owner, known)
      if (change === undefined) return
      current = await this.#apply(change, signal)
    }
  }

  async #apply(
    change: NonNullable<ReturnType<typeof computeCsiNodeChange>>,
    signal: AbortSignal,
  ): Promise<CsiNode | undefined> {
    switch (change.kind) {
      case 'create':
        return await this.#api.createCsiNode(change.object, signal)
      case 'replace':
        return await this.#api.replaceCsiNode(change.object, signal)
      case 'delete':
        await this.#api.deleteCsiNode(signal)
        return undefined
    }
  }
}
