import assert from 'node:assert/strict'
import process from 'node:process'
import { deployment, object, serve, service } from './manifests.ts'
import { runJob } from './run-job.ts'

const APPS = Array.from({ length: 9 }, (_, i) => `app-${i}`)
const PORT = 30080
const FETCH = 'fetch(process.argv[1]).then((r) => r.text()).then(console.log)'
const CLAIM = object({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'diary' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
})
const DIARY = deployment('diary', 'echo started >> /data/diary; exec sleep 100000', {
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'diary' } }] },
  container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
})
let starts = 0

/** Ten containers behind names of their own, one of them with data, one on a port of the machine. */
runJob('home server with ten containers', {
  begin: async (node) => {
    const apps = APPS.map((name, i) => {
      return deployment(name, serve('hostname')) + service(name, i === 0 ? { type: 'NodePort', nodePort: PORT } : {})
    })
    await node.apply(apps.join('') + CLAIM + DIARY)
  },
  holds: async (node) => {
    await node.rolledOut(...[...APPS, 'diary'].map((name) => `deployment/${name}`))
    for (const name of APPS) {
      const ask = `wget -q -T 3 -O - http://${name}/`
      await node.eventually(['exec', 'deployment/diary', '--', 'sh', '-c', ask], new RegExp(`^${name}-`))
    }
    const address = await node.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].status.addresses[0].address}')
    assert.match(await node.onMachine(process.execPath, '-e', FETCH, `http://${address}:${PORT}/`), /^app-0-/)
    starts += 1
    assert.equal(await node.kubectl('exec', 'deployment/diary', '--', 'cat', '/data/diary'), 'started\n'.repeat(starts))
    // With the pod of the example.
    const status = await node.deckhand('status')
    assert.equal(status.match(/ yes +Running /g)?.length, APPS.length + 2, status)
  },
})
