import { writeControlPlaneFiles } from '../../control-plane/control-plane-files.ts'
import { ControlPlane } from '../../control-plane/control-plane.ts'
import { freePorts } from '../../control-plane/free-ports.ts'
import type { KubePrograms } from '../../control-plane/kube-programs.ts'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { connectTarget } from './api-target.ts'
import type { ApiTarget } from './api-target.ts'

/** Only those whose work every namespace shows: others would write to objects while the cases read them. */
const CONTROLLERS = [
  'clusterrole-aggregation-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
]

/** A real kube-apiserver on loopback, with an etcd of its own and some of its controllers; the folder has the kubeconfig files. */
export async function startRealPlane(
  programs: KubePrograms,
  controllers: readonly string[],
  controllerFlags: Readonly<Record<string, string>> = {},
) {
  const folder = makeTemporaryFolder()
  const [api = 0, etcd = 0, etcdPeer = 0, controllerManager = 0, scheduler = 0] = await freePorts(5)
  const server = `https://127.0.0.1:${api}`
  const files = await writeControlPlaneFiles({
    pkiFolder: `${folder}/pki`,
    adminKubeconfig: `${folder}/admin.kubeconfig`,
    agentKubeconfig: `${folder}/node.kubeconfig`,
    folder: `${folder}/files`,
    server,
    nodeName: 'node-1',
  })
  const plane = new ControlPlane({
    programs,
    files,
    folder,
    // Should this process be killed, they go with it.
    enter: ['setpriv', '--pdeathsig', 'KILL'],
    ports: { api, etcd, etcdPeer, controllerManager, scheduler },
    controllers: controllers.join(','),
    controllerFlags,
    hasScheduler: false,
  })
  await plane.start().catch(async (error: unknown) => {
    await plane.kill()
    throw error
  })
  return { plane, folder, server }
}

/** A real kube-apiserver on loopback, with an etcd of its own and the controllers of namespaces. */
export async function startRealTarget(programs: KubePrograms): Promise<ApiTarget> {
  const { plane, folder, server } = await startRealPlane(programs, CONTROLLERS)
  const target = await connectTarget(server, `${folder}/pki`)
  return {
    send: (wire) => target.send(wire),
    async [Symbol.asyncDispose]() {
      await target[Symbol.asyncDispose]()
      await plane.kill()
    },
  }
}
