import { KubeApiError } from '../../src/protocols/kube-api/kube-client.ts'
import type { Node } from '../../src/model/generated/core-v1.ts'
import type { NodePatch } from '../../src/node/registration/status/compute-node-patch.ts'
import type { Lease } from '../../src/node/registration/lease.ts'
import type { NodeApi } from '../../src/node/registration/node-api.ts'

type Fields = Readonly<Record<string, unknown>>

/** The API as far as a node uses it for itself, in memory; answers at once. It keeps a journal of what was asked. */
export class FakeNodeApi implements NodeApi {
  readonly calls: string[] = []
  readonly patches: NodePatch[] = []
  /** Thrown by the next calls, one each; undefined lets one pass. */
  readonly failures: (Error | undefined)[] = []
  node: Node | undefined
  lease: Lease | undefined
  #version = 0

  async getNode(): Promise<Node> {
    this.#note('getNode')
    return this.node ?? refuse(404, 'NotFound')
  }

  async createNode(node: Node): Promise<Node> {
    this.#note('createNode')
    if (this.node !== undefined) refuse(409, 'AlreadyExists')
    return (this.node = this.#stamp({ ...node, metadata: { ...node.metadata, uid: 'n-1' } }))
  }

  async patchNodeStatus(patch: NodePatch): Promise<Node> {
    this.#note('patchNodeStatus')
    const node = this.node ?? refuse(404, 'NotFound')
    this.patches.push(patch)
    return (this.node = this.#stamp(merge(node as Fields, patch)))
  }

  async getLease(): Promise<Lease> {
    this.#note('getLease')
    return this.lease ?? refuse(404, 'NotFound')
  }

  async createLease(lease: Lease): Promise<Lease> {
    this.#note('createLease')
    if (this.lease !== undefined) refuse(409, 'AlreadyExists')
    return (this.lease = this.#stamp(lease))
  }

  async replaceLease(lease: Lease): Promise<Lease> {
    this.#note('replaceLease')
    const old = this.lease ?? refuse(404, 'NotFound')
    if (old.metadata?.resourceVersion !== lease.metadata?.resourceVersion) refuse(409, 'Conflict')
    return (this.lease = this.#stamp(lease))
  }

  #note(call: string): void {
    this.calls.push(call)
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
  }

  #stamp<T extends Node | Lease>(object: T): T {
    this.#version += 1
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } }
  }
}

/** What the server answers when it refuses. */
export function rejection(code: number, reason: string): KubeApiError {
  return new KubeApiError(`${reason} (${code})`, { code, reason })
}

function refuse(code: number, reason: string): never {
  throw rejection(code, reason)
}

/** A strategic merge, of what a node sends: conditions by their type, addresses replaced. */
function merge(before: Fields, patch: Fields): Fields {
  const result: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(patch)) {
    const old = result[name]
    if (value === null) delete result[name]
    else if (name === 'conditions') result[name] = mergeConditions((old ?? []) as Fields[], value as Fields[])
    else if (name === 'addresses') result[name] = (value as Fields[]).filter((item) => item['$patch'] === undefined)
    else if (typeof value === 'object' && !Array.isArray(value))
      result[name] = merge((old ?? {}) as Fields, value as Fields)
    else result[name] = value
  }
  return result
}

function mergeConditions(before: readonly Fields[], patch: readonly Fields[]): readonly Fields[] {
  const isOf = (type: unknown) => (item: Fields) => item['type'] === type
  return [
    ...before.map((item) => ({ ...item, ...patch.find(isOf(item['type'])) })),
    ...patch.filter((item) => !before.some(isOf(item['type']))),
  ]
}
