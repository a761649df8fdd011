import { runApiServer, adminIdentity, nodeIdentity } from './src/api-server/serving/run-api-server.ts'
import { systemClock } from './src/async/clock.ts'
import { randomUUID } from 'node:crypto'
const log: any = { info: (m: string, f: any) => console.log('I', m, JSON.stringify(f)), warn: (m: string, f: any) => console.log('W', m, f), error: (m: string, f: any) => console.log('E', m, f), debug: (m: string, f: any) => console.log('D', m, f), child: () => log }
const c = new AbortController()
process.on('SIGTERM', () => c.abort(new Error('stop')))
const f = '/tmp/api-auth-try'
const t = performance.now()
await runApiServer({ folder: f, address: '127.0.0.1', port: 16443, servingNames: () => ['192.0.2.7', 'Node-1'], identities: [adminIdentity(f + '/admin.kubeconfig'), nodeIdentity(f + '/node.kubeconfig', 'node-1')], nodeName: 'node-1', version: 'v1.36.4', clock: systemClock, log, newUid: randomUUID, random: Math.random, onReady: (r) => console.log('ready', r.server, performance.now() - t, process.memoryUsage().rss / 1e6) }, c.signal).catch((e) => console.log('end', e.message, performance.now()))
console.log('ended')
