/** The Kubernetes API of a standalone node, alone: FOLDER has its objects and the kubeconfig files "admin", "agent" and "reader". */
import { dirname } from 'node:path'
import process from 'node:process'
import { serveApi } from '../../../src/standalone/node/api/serve-api.ts'
import { NODE_NAME } from '../lab/lab-agent.ts'

const [folder = ''] = process.argv.slice(2)
await serveApi(
  () => Math.random(),
  {
    folder: `${folder}/objects`,
    port: 6443,
    addresses: [],
    nodeName: NODE_NAME,
    adminKubeconfig: `${folder}/admin`,
    agentKubeconfig: `${folder}/agent`,
    readerKubeconfig: `${folder}/reader`,
    logFile: `${folder}/api.log`,
    agentSocket: `${dirname(folder)}/kubelet/deckhand/agent.sock`,
    serviceRange: '10.96.0.0/12',
    hasServiceAddress: false,
    storageClass: undefined,
    ingressClass: undefined,
    switchedOff: new Map(),
    onError: () => {},
    onReady: () => console.log('ready'),
  },
  new AbortController().signal,
)
