import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { TestPage } from '../component/page/start-page.ts'
import { findBarriers } from './find-barriers.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const MINUTE = 60_000

let page: TestPage
let browser: TestBrowser
let uid = ''

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const made = await page.api.call(page.api.admin, 'POST', path, body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body
}

/** A pod with one of everything, an hour of measurements, a claim and some images. */
async function fill(): Promise<void> {
  const { api, agent } = page
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' }
  await post('/api/v1/namespaces/default/persistentvolumeclaims', { metadata: { name: 'data' }, spec: claim })
  const pod = await post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'shop', labels: { app: 'shop' } },
    spec: {
      nodeName: 'node-1',
      containers: [
        {
          name: 'main',
          image: 'registry.example/shop:1',
          ports: [{ containerPort: 80, hostPort: 8080 }],
          readinessProbe: { exec: { command: ['check', HOSTILE] } },
          resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
          volumeMounts: [{ name: 'data', mountPath: '/var/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  })
  ;({ uid } = pod['metadata'] as { uid: string })
  await post('/api/v1/namespaces/default/services', {
    metadata: { name: 'front' },
    spec: { type: 'NodePort', selector: { app: 'shop' }, ports: [{ port: 80, nodePort: 30_111 }] },
  })
  const ended = { exitCode: 3, reason: 'Error', startedAt: ago(90_000), finishedAt: ago(60_000) }
  const patch = { ...api.node, headers: { 'content-type': 'application/merge-patch+json' } }
  const status = {
    phase: 'Running',
    hostIP: '127.0.0.1',
    containerStatuses: [
      {
        name: 'main',
        ready: false,
        restartCount: 2,
        image: 'registry.example/shop:1',
        imageID: 'sha256:11',
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s' } },
        lastState: { terminated: ended },
      },
    ],
  }
  const path = '/api/v1/namespaces/default/pods/shop/status'
  assert.equal((await api.call(patch, 'PATCH', path, { status })).status, 200)
  const now = Date.now()
  const step = (name: string, before: number, more: object = {}) => ({
    name,
    startedAt: now - before,
    ms: 400,
    ...more,
  })
  agent.pods = [
    {
      uid,
      why: 'Waits: container "main" CrashLoopBackOff',
      steps: [
        step('image of container "main"', 200_000),
        step('mount volume "data" (kubernetes.io/host-path)', 199_000),
        step('create sandbox', 198_000),
        step('create container "main"', 197_000),
        step('start container "main"', 196_000),
        step('start container "main"', 95_000, { error: 'no such program' }),
      ],
      probes: [
        {
          container: 'main',
          type: 'readiness',
          result: 'failure',
          output: HOSTILE,
          at: now - 5000,
          ms: 12,
          since: now - 65_000,
          isCurrent: true,
        },
      ],
      volumes: [{ name: 'data', path: '/state/pods/u/volumes/data' }],
    },
  ]
  const volume = [
    {
      name: 'data',
      usedBytes: 3 * 1024 ** 2,
      capacityBytes: 1024 ** 3,
      pvcRef: { namespace: 'default', name: 'data' },
    },
  ]
  const disk = { capacityBytes: 100 * 1024 ** 3, availableBytes: 40 * 1024 ** 3 }
  agent.summary = {
    node: { cpu: { usageNanoCores: 5e8 }, fs: disk, runtime: { imageFs: disk } },
    pods: [{ podRef: { uid }, cpu: { usageNanoCores: 1e8 }, memory: { workingSetBytes: 5 * 1024 ** 2 }, volume }],
  }
  const times = Array.from({ length: 50 }, (_, index) => now - (51 - index) * MINUTE)
  agent.history = {
    times,
    node: { cpuCores: times.map(() => 0.4), memoryBytes: times.map(() => 1e9), memoryTotalBytes: times.map(() => 4e9) },
    pods: { [uid]: { cpuCores: times.map(() => 0.2), memoryBytes: times.map(() => 4e6) } },
  }
  const image = { pinned: false, inUse: true, firstSeenAt: now - 3 * 3_600_000 }
  agent.images = {
    images: [
      { id: 'sha256:11', names: ['registry.example/shop:1'], sizeBytes: 50 * 1024 ** 2, ...image },
      { id: 'sha256:22', names: [HOSTILE], sizeBytes: 7 * 1024 ** 2, ...image, inUse: false },
    ],
  }
}

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString()
}

describe('what the page knows of a node', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    await fill()
    await browser.signIn(page.link())
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
  })

  describe('a pod in a browser', () => {
    test('shows its steps, restarts, probes, volumes, ports and what it wrote before it crashed', async () => {
      const { tab, faults } = await browser.open()
      await tab.route('**/pods/shop/log?**', (route) => route.fulfill({ body: `one\nthe last ${HOSTILE}\u001B[2J\n` }))
      await tab.goto(`${page.address}/pods/default/shop`)
      const region = (name: string) => tab.getByRole('region', { name, exact: true })
      const steps = region('Steps')
      await steps.getByText('restart 1', { exact: true }).waitFor()
      await steps.getByText('no such program').first().waitFor()
      assert.equal(await steps.locator('rect').count(), 6)
      assert.deepEqual(
        await steps.locator('tr[class^=step-]').evaluateAll((rows) => rows.map((row) => row.className)),
        ['step-image', 'step-volume', 'step-sandbox', 'step-create', 'step-start', 'step-start failed'],
      )
      await tab.getByLabel('Last lines of main').getByText('the last <img').waitFor()
      const probes = region('Probes')
      await probes.getByText('failed', { exact: true }).waitFor()
      await probes.getByText(`runs check ${HOSTILE}`).waitFor()
      const volumes = region('Volumes')
      await volumes.getByText('/var/data').waitFor()
      await volumes.getByText('/state/pods/u/volumes/data').waitFor()
      await volumes.getByText('3.0 MiB of 1.0 GiB').waitFor()
      const ports = region('Ports')
      const link = ports.getByRole('link', { name: '127.0.0.1:8080' })
      assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
      await ports.getByRole('link', { name: '127.0.0.1:30111' }).waitFor()
      await ports.getByText('kubectl port-forward -n default pod/shop 80:80').waitFor()
      assert.equal(await tab.locator('img, main script').count(), 0)
      assert.deepEqual(faults, [])
      await tab.close()
    })

    test('plots what it used before the page was opened, with what it requests and may use', async () => {
      const { tab } = await browser.open()
      const asked: string[] = []
      tab.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await tab.goto(`${page.address}/pods/default/shop`)
      const plots = tab.getByRole('region', { name: 'What the pod uses, over the last hour' })
      await plots.getByText('requested 64.0 MiB').waitFor()
      await plots.getByText('limit 500m').waitFor()
      await plots.getByText(/^used 200m|^used 100m/).waitFor()
      const answer = await tab.evaluate(
        `fetch('/agent/usage?uid=${uid}', { headers: { 'x-deckhand-key': localStorage.getItem('deckhand-key') } }).then((each) => each.json())`,
      )
      const { times } = answer as { readonly times: readonly number[] }
      assert.ok(times.length >= 50, `${times.length} points`)
      assert.ok((times[0] ?? Infinity) < Date.now() - 45 * MINUTE)
      await tab.close()
    })

    test('marks in its YAML what was filled in', async () => {
      const { tab, faults } = await browser.open()
      await tab.goto(`${page.address}/pods/default/shop/yaml`)
      await tab.getByText('are as they would be if nobody had written them').waitFor()
      const marked = tab.locator('.filled')
      await marked.getByText('terminationMessagePath: /dev/termination-log # default').waitFor()
      await marked.getByText('dnsPolicy: ClusterFirst # default').waitFor()
      assert.equal(await marked.getByText('image: registry.example').count(), 0)
      assert.deepEqual(faults, [])
      await tab.close()
    })
  })

  describe('a kubelet that explains nothing', () => {
    test('is marked as one, and the rest of a pod is there', async () => {
      const { pods } = page.agent
      page.agent.pods = undefined
      const { tab } = await browser.open()
      const refused: string[] = []
      tab.on('response', (response) => {
        if (response.status() === 404) refused.push(new URL(response.url()).pathname)
      })
      await tab.goto(page.address)
      await tab.getByText('The kubelet of this node is not Deckhand').waitFor()
      await tab.getByRole('link', { name: 'default/shop' }).first().click()
      await tab.getByRole('region', { name: 'Probes' }).getByText('not known').waitFor()
      await tab.getByRole('region', { name: 'Ports' }).waitFor()
      assert.deepEqual(
        refused.filter((path) => path.startsWith('/agent')),
        [],
      )
      page.agent.pods = pods
      await tab.close()
    })
  })

  describe('images and storage in a browser', () => {
    test('shows images with their users and age, claims with what they take, and what could be had back', async () => {
      const { tab, faults } = await browser.open()
      await tab.goto(page.address)
      await tab.getByRole('link', { name: 'Images and storage' }).click()
      await tab.waitForURL(`${page.address}/storage`)
      const images = tab.getByRole('region', { name: 'Images (2)' })
      const shop = images.getByRole('row', { name: /registry\.example\/shop:1/ })
      await shop.getByText('50.0 MiB').waitFor()
      await shop.getByText('3h', { exact: true }).waitFor()
      await shop.getByRole('link', { name: 'default/shop' }).waitFor()
      await images
        .getByRole('row', { name: /img src/ })
        .getByText('nothing')
        .waitFor()
      await tab.getByText('at most 7.0 MiB').waitFor()
      await tab.getByText('40.0 GiB free of 100.0 GiB').or(tab.getByText('40.0 GiB free of 100 GiB')).waitFor()
      const claims = tab.getByRole('region', { name: 'Claims (1)' })
      await claims.getByText('3.0 MiB of 1.0 GiB').waitFor()
      await claims.getByText('Pending').waitFor()
      assert.equal(await tab.locator('img').count(), 0)
      assert.deepEqual(faults, [])
      assert.deepEqual(await findBarriers(tab), [])
      await shop.getByRole('link', { name: 'default/shop' }).click()
      await tab.getByRole('heading', { name: 'default/shop' }).waitFor()
      assert.deepEqual(await findBarriers(tab), [])
      await tab.close()
    })

    test('is there for a reader too', async () => {
      const reader = await openBrowser()
      try {
        const { tab } = await reader.open()
        await tab.goto(page.link('reader'))
        await tab.getByText('live', { exact: true }).waitFor()
        await tab.getByRole('link', { name: 'Images and storage' }).click()
        await tab.getByRole('region', { name: 'Claims (1)' }).waitFor()
        await tab.getByRole('region', { name: 'Images (2)' }).waitFor()
      } finally {
        await reader[Symbol.asyncDispose]()
      }
    })
  })
})
