import { rmSync } from 'node:fs'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import type { CsiCapability } from '../../src/protocols/csi/csi-drivers.ts'
import { NodeDefinition, NodeServiceCapability_RPC_Type } from '../../src/protocols/csi/generated/csi-v1.ts'
import type { NodeGetVolumeStatsResponse } from '../../src/protocols/csi/generated/csi-v1.ts'
import { RegistrationDefinition } from '../../src/node/plugins/generated/plugin-registration.ts'
import type { PluginInfo, RegistrationStatus } from '../../src/node/plugins/generated/plugin-registration.ts'
import { FakeCsiVolumes } from './fake-csi-volumes.ts'

// A capability that none of our versions knows.
const NEWER = 99 as never

type Methods = typeof NodeDefinition.methods
/** A call of the node service, as the driver sees it. */
export type CsiMethod = keyof Methods

export interface FakeCsiCall {
  readonly method: CsiMethod
  readonly request: Readonly<Record<string, unknown>>
}

export interface FakeCsiDriverOptions extends Partial<PluginInfo> {
  readonly nodeId?: string
  /** 0: as many as may be. */
  readonly maxVolumes?: bigint
  readonly segments?: Readonly<Record<string, string>>
  readonly capabilities?: readonly CsiCapability[]
  /** Where the data of volumes lies, a folder or file for each; when given, volumes are really mounted. */
  readonly folder?: string
  readonly onCall?: (call: FakeCsiCall) => void
  /** What a method asks for is done, and not answered yet. */
  readonly onDone?: (method: CsiMethod) => void
}

/** A CSI driver behind real gRPC: its registration and its node service on one socket. */
export class FakeCsiDriver implements Disposable {
  readonly path: string
  /** How the agent answered its registration. */
  readonly reported: RegistrationStatus[] = []
  readonly calls: FakeCsiCall[] = []
  /** The next calls of a method fail with these, one after the other. */
  readonly failures = new Map<CsiMethod, { readonly code: status; readonly details: string }[]>()
  /** Calls of these get no answer while they are here. */
  readonly hung = new Set<CsiMethod>()
  capabilities: readonly CsiCapability[]
  nodeId: string
  maxVolumes: bigint
  segments: Readonly<Record<string, string>>
  stats: NodeGetVolumeStatsResponse = { usage: [] }
  readonly #volumes: FakeCsiVolumes | undefined
  readonly #server = new Server()
  readonly #onCall: FakeCsiDriverOptions['onCall']
  readonly #onDone: FakeCsiDriverOptions['onDone']

  private constructor(path: string, options: FakeCsiDriverOptions) {
    const {
      nodeId = 'node-1',
      maxVolumes = 0n,
      segments = {},
      capabilities = [],
      folder,
      onCall,
      onDone,
      ...info
    } = options
    this.path = path
    this.#onCall = onCall
    this.#onDone = onDone
    this.nodeId = nodeId
    this.maxVolumes = maxVolumes
    this.segments = segments
    this.capabilities = capabilities
    this.#volumes = folder === undefined ? undefined : new FakeCsiVolumes(folder)
    this.#addRegistration(info)
    this.#addNode()
  }

  static async start(path: string, options: FakeCsiDriverOptions = {}): Promise<FakeCsiDriver> {
    const driver = new FakeCsiDriver(path, options)
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      driver.#server.bindAsync(`unix://${path}`, credentials, (error) => (error === null ? resolve() : reject(error)))
    })
    return driver
  }

  count(method: CsiMethod): number {
    return this.calls.filter((call) => call.method === method).length
  }

  /** Ends it; its socket goes too, what it mounted stays. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown()
    rmSync(this.path, { force: true })
  }

  #addRegistration(info: Partial<PluginInfo>): void {
    const { fullName, methods } = RegistrationDefinition
    const answer = { type: 'CSIPlugin', name: 'disk.example.com', endpoint: '', supportedVersions: ['1.0.0'], ...info }
    this.#server.addService(
      {
        getInfo: toGrpcMethod(fullName, methods.getInfo),
        notifyRegistrationStatus: toGrpcMethod(fullName, methods.notifyRegistrationStatus),
      },
      {
        getInfo: (_: unknown, reply: sendUnaryData<PluginInfo>) => reply(null, answer),
        notifyRegistrationStatus: (call: ServerUnaryCall<RegistrationStatus, object>, reply: sendUnaryData<object>) => {
          this.reported.push(call.request)
          reply(null, {})
        },
      },
    )
  }

  #addNode(): void {
    const { fullName, methods } = NodeDefinition
    const names = Object.keys(methods) as CsiMethod[]
    const definitions = names.map((name) => [name, toGrpcMethod(fullName, methods[name] as never)])
    const handlers = names.map((name) => [
      name,
      (call: ServerUnaryCall<Record<string, unknown>, object>, reply: sendUnaryData<object>) =>
        void this.#answer(name, call.request, reply),
    ])
    this.#server.addService(
      Object.fromEntries(definitions),
      Object.fromEntries(handlers) as UntypedServiceImplementation,
    )
  }

  async #answer(method: CsiMethod, request: Readonly<Record<string, unknown>>, reply: sendUnaryData<object>) {
    this.calls.push({ method, request })
    this.#onCall?.({ method, request })
    const failure = this.failures.get(method)?.shift()
    if (failure !== undefined) return reply(failure)
    if (this.hung.has(method)) return
    const toReply = this.#replies[method] as (request: object) => Promise<object>
    try {
      const answer = await toReply(request)
      this.#onDone?.(method)
      reply(null, answer)
    } catch (error) {
      reply({ code: status.INTERNAL, details: String(error) })
    }
  }

  readonly #replies: {
    readonly [M in CsiMethod]: (request: ReturnType<Methods[M]['requestType']['decode']>) => Promise<object>
  } = {
    nodeGetInfo: async () => ({
      nodeId: this.nodeId,
      maxVolumesPerNode: this.maxVolumes,
      accessibleTopology: { segments: this.segments },
    }),
    nodeGetCapabilities: async () => ({
      capabilities: this.capabilities.map((name) => ({ rpc: { type: NodeServiceCapability_RPC_Type[name] ?? NEWER } })),
    }),
    nodeStageVolume: async (request) => (await this.#volumes?.stage(request)) ?? {},
    nodeUnstageVolume: async ({ stagingTargetPath }) => (await this.#volumes?.unmount(stagingTargetPath, 'keep')) ?? {},
    nodePublishVolume: async (request) => (await this.#volumes?.publish(request)) ?? {},
    nodeUnpublishVolume: async ({ targetPath }) => (await this.#volumes?.unmount(targetPath, 'remove')) ?? {},
    nodeExpandVolume: async ({ capacityRange }) => ({ capacityBytes: capacityRange?.requiredBytes ?? 0n }),
    nodeGetVolumeStats: async () => this.stats,
  }
}
