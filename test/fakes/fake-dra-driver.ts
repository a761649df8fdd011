import { rmSync } from 'node:fs'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import { DRAResourceHealthDefinition } from '../../src/node/resource-claims/generated/dra-health-v1alpha1.ts'
import type { NodeWatchResourcesResponse } from '../../src/node/resource-claims/generated/dra-health-v1alpha1.ts'
import { DRAPluginDefinition } from '../../src/node/resource-claims/generated/dra-v1.ts'
import type {
  Claim,
  Device,
  NodePrepareResourcesRequest,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesRequest,
  NodeUnprepareResourcesResponse,
} from '../../src/node/resource-claims/generated/dra-v1.ts'

export interface FakeDraDriverOptions {
  /** v1 by default. */
  readonly version?: 'v1' | 'v1beta1'
  readonly devices?: (claim: Claim) => readonly Partial<Device>[]
  /** Does it report the health of its devices? */
  readonly hasHealth?: boolean
}

type HealthStream = ServerWritableStream<object, NodeWatchResourcesResponse>

/** A driver of claims behind real gRPC: it prepares what it is asked to, unless a test wants it to fail or to hang. */
export class FakeDraDriver implements Disposable {
  readonly path: string
  /** What it was asked for, such as "prepare gpu" or "unprepare gpu other". */
  readonly asked: string[] = []
  /** By name of a claim: why it cannot be prepared, or not be given back. */
  readonly errors = new Map<string, string>()
  /** Claims that it prepared and that were not unprepared since, by UID. */
  readonly prepared = new Set<string>()
  /** While true, calls fail as a whole. */
  isBroken = false
  /** While true, calls are not answered. */
  isHung = false
  /** Says nothing of the claims that it is asked for. */
  isMute = false
  readonly #server = new Server()
  readonly #devices: NonNullable<FakeDraDriverOptions['devices']>
  readonly #streams = new Set<HealthStream>()

  private constructor(path: string, { version = 'v1', devices, hasHealth = false }: FakeDraDriverOptions) {
    this.path = path
    this.#devices = devices ?? ((claim) => [{ cdiDeviceIds: [`vendor.example/device=${claim.name}`] }])
    const { fullName, methods } = DRAPluginDefinition
    const service = fullName.replace('.v1.', `.${version}.`)
    this.#server.addService(
      {
        prepare: toGrpcMethod(service, methods.nodePrepareResources),
        unprepare: toGrpcMethod(service, methods.nodeUnprepareResources),
      },
      {
        prepare: this.#answer('prepare', (claims) => this.#prepare(claims)),
        unprepare: this.#answer('unprepare', (claims) => this.#unprepare(claims)),
      },
    )
    if (hasHealth) this.#addHealth()
  }

  static async start(path: string, options: FakeDraDriverOptions = {}): Promise<FakeDraDriver> {
    const driver = new FakeDraDriver(path, options)
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      driver.#server.bindAsync(`unix://${path}`, credentials, (error) => (error === null ? resolve() : reject(error)))
    })
    return driver
  }

  /** How many clients watch its health. */
  get followers(): number {
    return this.#streams.size
  }

  /** Reports the health of its devices to all watchers. */
  reportHealth(devices: NodeWatchResourcesResponse['devices']): void {
    for (const stream of this.#streams) stream.write({ devices })
  }

  /** Ends all watches of its health, as an error does. */
  breakStreams(): void {
    for (const stream of this.#streams) stream.emit('error', { code: status.INTERNAL, details: 'broken' })
  }

  /** Ends it; its socket goes too. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown()
    rmSync(this.path, { force: true })
  }

  #answer<A>(name: string, answer: (claims: readonly Claim[]) => A) {
    return (
      { request }: ServerUnaryCall<NodePrepareResourcesRequest | NodeUnprepareResourcesRequest, A>,
      reply: sendUnaryData<A>,
    ): void => {
      this.asked.push([name, ...request.claims.map((claim) => claim.name)].join(' '))
      if (this.isHung) return
      if (this.isBroken) reply({ code: status.INTERNAL, details: 'broken' })
      else reply(null, answer(this.isMute ? [] : request.claims))
    }
  }

  #prepare(claims: readonly Claim[]): NodePrepareResourcesResponse {
    const answers = claims.map((claim) => {
      const error = this.errors.get(claim.name) ?? ''
      if (error !== '') return [claim.uid, { devices: [], error }] as const
      this.prepared.add(claim.uid)
      const devices = this.#devices(claim).map((device) => ({
        requestNames: [],
        poolName: 'pool',
        deviceName: 'device-0',
        cdiDeviceIds: [],
        ...device,
      }))
      return [claim.uid, { devices, error }] as const
    })
    return { claims: Object.fromEntries(answers) }
  }

  #unprepare(claims: readonly Claim[]): NodeUnprepareResourcesResponse {
    const answers = claims.map(({ uid, name }) => {
      const error = this.errors.get(name) ?? ''
      if (error === '') this.prepared.delete(uid)
      return [uid, { error }] as const
    })
    return { claims: Object.fromEntries(answers) }
  }

  #addHealth(): void {
    const { fullName, methods } = DRAResourceHealthDefinition
    this.#server.addService(
      { watch: toGrpcMethod(fullName, methods.nodeWatchResources) },
      {
        watch: (stream: HealthStream) => {
          this.#streams.add(stream)
          const forget = () => void this.#streams.delete(stream)
          for (const end of ['cancelled', 'error', 'close']) stream.on(end, forget)
        },
      },
    )
  }
}
