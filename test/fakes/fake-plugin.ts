import { rmSync } from 'node:fs'
import { Server, ServerCredentials, status } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import { RegistrationDefinition } from '../../src/node/plugins/generated/plugin-registration.ts'
import type { PluginInfo, RegistrationStatus } from '../../src/node/plugins/generated/plugin-registration.ts'

const { fullName, methods } = RegistrationDefinition

/** A plugin behind real gRPC: it reports its info, and keeps what the agent notifies it of. */
export class FakePlugin implements Disposable {
  readonly path: string
  readonly reported: RegistrationStatus[] = []
  /** How often it was asked what it is. */
  asked = 0
  readonly #server = new Server()
  /** Answers nothing any more. */
  isHung = false
  refusesNotice = false

  private constructor(path: string, info: Partial<PluginInfo>) {
    this.path = path
    const answer = { type: 'CSIPlugin', name: 'disk.example.com', endpoint: '', supportedVersions: ['1.0.0'], ...info }
    this.#server.addService(
      {
        getInfo: toGrpcMethod(fullName, methods.getInfo),
        notifyRegistrationStatus: toGrpcMethod(fullName, methods.notifyRegistrationStatus),
      },
      {
        getInfo: (_: unknown, reply: sendUnaryData<PluginInfo>) => {
          this.asked += 1
          if (!this.isHung) reply(null, answer)
        },
        notifyRegistrationStatus: (call: ServerUnaryCall<RegistrationStatus, object>, reply: sendUnaryData<object>) => {
          this.reported.push(call.request)
          if (this.refusesNotice) reply({ code: status.INTERNAL, details: 'no' })
          else reply(null, {})
        },
      },
    )
  }

  static async start(path: string, info: Partial<PluginInfo> = {}): Promise<FakePlugin> {
    const plugin = new FakePlugin(path, info)
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      plugin.#server.bindAsync(`unix://${path}`, credentials, (error) => (error === null ? resolve() : reject(error)))
    })
    return plugin
  }

  /** Ends it; its socket goes too. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown()
    rmSync(this.path, { force: true })
  }
}
