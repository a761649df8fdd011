import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { TestPage } from '../component/page/start-page.ts'
import { addRunningPod } from './add-running-pod.ts'
import { findBarriers } from './find-barriers.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const PODS = '/api/v1/namespaces/default/pods'
const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } }

let page: TestPage
let browser: TestBrowser

interface ReadObject {
  readonly metadata: {
    readonly uid: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly replicas?: number
    readonly containers: readonly { readonly image: string; readonly resources: object }[]
  }
  readonly data?: Readonly<Record<string, string>>
}

async function read(path: string) {
  const { status, body } = await page.api.call(page.api.admin, 'GET', path)
  return { status, body: body as unknown as ReadObject }
}

/** Opens an address, then a dialog by its button. */
async function openDialog(tab: Page, path: string, button: string): Promise<Locator> {
  await tab.goto(`${page.address}${path}`)
  await tab.getByRole('button', { name: button }).click()
  return tab.getByRole('dialog')
}

describe('doing things on the page', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    await browser.signIn(page.link())
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
  })

  test('a pod is deleted when that was confirmed, and not by Escape', async () => {
    await addRunningPod(page.api, 'old')
    const { tab, faults } = await browser.open()
    const dialog = await openDialog(tab, '/pods/default/old', 'Delete…')
    await dialog.getByText('Nothing brings it back.').waitFor()
    assert.deepEqual(await findBarriers(tab), [])
    // The way out has the focus, and Tab does not lead to what is behind the dialog.
    assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Cancel')
    for (const _ of [1, 2, 3, 4]) await tab.keyboard.press('Tab')
    assert.equal(await tab.evaluate('document.activeElement.closest("main:not(:has(dialog))")'), null)
    await tab.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Delete…')
    assert.equal((await read(`${PODS}/old`)).body.metadata.deletionTimestamp, undefined)
    await tab.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.waitFor({ state: 'detached' })
    await tab.locator('.summary', { hasText: 'Terminating' }).waitFor()
    await page.api.call(page.api.node, 'DELETE', `${PODS}/old?gracePeriodSeconds=0`)
    await tab.getByText('There is no such pod (any more). Below is what was known of it last.').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a pod without a controller is deleted and created again', async () => {
    const uid = await addRunningPod(page.api, 'bare')
    const { tab, faults } = await browser.open()
    const dialog = await openDialog(tab, '/pods/default/bare', 'Restart…')
    await dialog.getByText('No controller brings pod').waitFor()
    await dialog.getByRole('button', { name: 'Restart' }).click()
    await dialog.getByText('Waits until the pod has ended…').waitFor()
    await page.api.call(page.api.node, 'DELETE', `${PODS}/bare?gracePeriodSeconds=0`)
    await dialog.waitFor({ state: 'detached' })
    const { metadata, spec } = (await read(`${PODS}/bare`)).body
    assert.notEqual(metadata.uid, uid)
    assert.equal(spec.containers[0]?.image, 'registry.example/web:1')
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a pod is edited as YAML: checked by the server, shown with what is different, applied', async () => {
    await addRunningPod(page.api, 'edited')
    const { tab, faults } = await browser.open()
    const dialog = await openDialog(tab, '/pods/default/edited', 'Edit YAML…')
    const editor = dialog.getByRole('textbox')
    await editor.and(tab.locator(':enabled')).waitFor()
    const text = await editor.inputValue()
    assert.doesNotMatch(text, /status:|managedFields|resourceVersion/)
    await editor.fill(text.replace('restartPolicy: Always', 'restartPolicy: Never'))
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/only these fields of a pod may change/)
      .waitFor()
    await editor.fill('metadata: [')
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/line 1/)
      .waitFor()
    await editor.fill(text.replace('web:1', 'web:2'))
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.locator('del', { hasText: 'image: registry.example/web:1' }).waitFor()
    await dialog.locator('ins', { hasText: 'image: registry.example/web:2' }).waitFor()
    assert.deepEqual(await findBarriers(tab), [])
    const imageOf = async () => (await read(`${PODS}/edited`)).body.spec.containers[0]?.image
    assert.equal(await imageOf(), 'registry.example/web:1')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await imageOf(), 'registry.example/web:2')
    // What others change meanwhile neither hinders it nor is overwritten, and a field that nobody knows is refused.
    const again = await openDialog(tab, '/pods/default/edited', 'Edit YAML…')
    await again.getByRole('textbox').and(tab.locator(':enabled')).waitFor()
    const newer = await again.getByRole('textbox').inputValue()
    await page.api.call({ ...page.api.admin, ...MERGE }, 'PATCH', `${PODS}/edited`, {
      metadata: { labels: { a: 'b' } },
    })
    await again.getByRole('textbox').fill(newer.replace('image: registry', 'comand: [x]\n      image: registry'))
    await again.getByRole('button', { name: 'Check' }).click()
    await again
      .getByRole('alert')
      .getByText(/unknown field "spec\.containers\[0\]\.comand"/)
      .waitFor()
    await again.getByRole('textbox').fill(newer.replace('web:2', 'web:3'))
    await again.getByRole('button', { name: 'Check' }).click()
    await again.locator('ins', { hasText: 'image: registry.example/web:3' }).waitFor()
    assert.equal(await again.locator('ins').count(), 1)
    const setImage = async (image: string) => {
      const spec = { containers: [{ name: 'main', image }] }
      const headers = { 'content-type': 'application/strategic-merge-patch+json' }
      await page.api.call({ ...page.api.admin, headers }, 'PATCH', `${PODS}/edited`, { spec })
    }
    await setImage('registry.example/web:9')
    await again.getByRole('button', { name: 'Apply' }).click()
    await again
      .getByRole('alert')
      .getByText(/^spec\.containers has been changed by others/)
      .waitFor()
    await setImage('registry.example/web:2')
    await again.getByRole('button', { name: 'Apply' }).click()
    await again.waitFor({ state: 'detached' })
    const { metadata, spec } = (await read(`${PODS}/edited`)).body
    assert.deepEqual([spec.containers[0]?.image, metadata.labels?.['a']], ['registry.example/web:3', 'b'])
    assert.deepEqual(
      faults.filter((fault) => !/status of (?:400|422)/.test(fault)),
      [],
    )
    await tab.close()
  })

  test('a dropped file with several objects is checked, shown and applied', async () => {
    const { tab, faults } = await browser.open()
    await tab.goto(page.address)
    await tab.getByRole('button', { name: 'Apply a file…' }).waitFor()
    const map = (value: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  colour: ${value}\n`
    const space = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n'
    const inSpace = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inner, namespace: shop}\n'
    const drop = async (text: string) => {
      await tab.getByRole('dialog').waitFor({ state: 'hidden' })
      const data = await tab.evaluateHandle(`{
        const transfer = new DataTransfer()
        transfer.items.add(new File([${JSON.stringify(text)}], 'file.yaml'))
        transfer
      }`)
      await tab.dispatchEvent('main', 'dragover', { dataTransfer: data })
      await tab.getByText('Drop the file to see what it would change.').waitFor()
      await tab.dispatchEvent('main', 'drop', { dataTransfer: data })
      return tab.getByRole('dialog')
    }
    const first = await drop([map('red'), space, inSpace].join('---\n'))
    await first.getByRole('listitem').filter({ hasText: 'ConfigMap default/settings will be created' }).waitFor()
    await first.getByRole('listitem').filter({ hasText: 'ConfigMap shop/inner will be created' }).waitFor()
    assert.equal((await read('/api/v1/namespaces/default/configmaps/settings')).status, 404)
    assert.deepEqual(await findBarriers(tab), [])
    await first.getByRole('button', { name: 'Apply' }).click()
    await first.getByText('applied').nth(2).waitFor()
    await first.getByRole('button', { name: 'Close' }).click()
    assert.equal((await read('/api/v1/namespaces/shop/configmaps/inner')).status, 200)

    const second = await drop([map('blue'), space].join('---\n'))
    await second.locator('del', { hasText: 'colour: red' }).waitFor()
    await second.locator('ins', { hasText: 'colour: blue' }).waitFor()
    await second.getByRole('listitem').filter({ hasText: 'Namespace shop stays as it is' }).waitFor()
    await second.getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await read('/api/v1/namespaces/default/configmaps/settings')).body.data?.['colour'], 'red')

    // What another client manages is taken over only when that is asked for.
    const other = { data: { colour: 'green' } }
    const path = '/api/v1/namespaces/default/configmaps/settings?fieldManager=other'
    await page.api.call({ ...page.api.admin, ...MERGE }, 'PATCH', path, other)
    const third = await drop(map('blue'))
    await third.getByText(/conflict with "other"/).waitFor()
    await third.getByRole('checkbox', { name: 'Take over the fields that others manage' }).check()
    await third.locator('ins', { hasText: 'colour: blue' }).waitFor()
    await third.getByRole('button', { name: 'Apply' }).click()
    await third.getByText('applied').waitFor()
    assert.equal((await read('/api/v1/namespaces/default/configmaps/settings')).body.data?.['colour'], 'blue')
    await tab.keyboard.press('Escape')
    const bad = await drop('apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n')
    await bad.getByText('The server knows no kind "Nothing" in v1').waitFor()
    assert.equal(await bad.getByRole('button', { name: 'Apply' }).count(), 0)
    assert.deepEqual(
      faults.filter((fault) => !/status of (?:404|409)/.test(fault)),
      [],
    )
    await tab.close()
  })

  test('a Deployment is scaled from one of its pods', async () => {
    const { api } = page
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a' }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    const make = async (resource: string, body: object) =>
      (await api.call(api.admin, 'POST', `/apis/apps/v1/namespaces/default/${resource}`, body)).body['metadata'] as {
        uid: string
      }
    const owner = (kind: string, name: string, uid: string) => [
      { apiVersion: 'apps/v1', kind, name, uid, controller: true },
    ]
    const deployment = await make('deployments', { metadata: { name: 'shop' }, spec })
    const ownerReferences = owner('Deployment', 'shop', deployment.uid)
    const set = await make('replicasets', { metadata: { name: 'shop-1', ownerReferences }, spec })
    await addRunningPod(api, 'shop-1-a')
    const owned = { metadata: { ownerReferences: owner('ReplicaSet', 'shop-1', set.uid) } }
    await api.call({ ...api.admin, ...MERGE }, 'PATCH', `${PODS}/shop-1-a`, owned)
    const { tab, faults } = await browser.open()
    const dialog = await openDialog(tab, '/pods/default/shop-1-a', 'Scale Deployment…')
    await dialog.getByText('has 1 pod.').waitFor()
    await dialog.getByRole('spinbutton').fill('3')
    await dialog.getByText('It starts 2 pods.').waitFor()
    assert.deepEqual(await findBarriers(tab), [])
    await dialog.getByRole('button', { name: 'Scale' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await read('/apis/apps/v1/namespaces/default/deployments/shop')
    assert.equal(body.spec.replicas, 3)
    await tab.getByRole('button', { name: 'Restart…' }).click()
    await dialog.getByText(/Deployment shop makes a new one in its place/).waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a pod is resized after a check, the node is cordoned, an image is pulled', async () => {
    const { api } = page
    const resources = { requests: { cpu: '100m' }, limits: { cpu: '200m' } }
    const pod = {
      metadata: { name: 'sized' },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'a', resources }] },
    }
    assert.equal((await api.call(api.admin, 'POST', PODS, pod)).status, 201)
    const status = { allocatable: { cpu: '1' } }
    await api.call(api.node, 'POST', '/api/v1/nodes', { metadata: { name: 'node-1' }, status })
    const { tab, faults } = await browser.open()
    const resize = await openDialog(tab, '/pods/default/sized', 'Resize…')
    await resize.getByLabel('CPU limit').fill('300m')
    await resize.getByRole('button', { name: 'Check' }).click()
    await resize.locator('ins', { hasText: 'cpu: 300m' }).waitFor()
    assert.deepEqual(await findBarriers(tab), [])
    await resize.getByRole('button', { name: 'Resize' }).click()
    await resize.waitFor({ state: 'detached' })
    const { body } = await read(`${PODS}/sized`)
    const [container] = body.spec.containers
    assert.deepEqual(container?.resources, { requests: { cpu: '100m' }, limits: { cpu: '300m' } })

    const cordon = await openDialog(tab, '/', 'Cordon…')
    await cordon.getByRole('button', { name: 'Cordon' }).click()
    await tab.getByText('cordoned: takes no new pods').waitFor()
    await tab.getByRole('button', { name: 'Uncordon…' }).click()
    await cordon.getByRole('button', { name: 'Uncordon' }).click()
    await tab.getByText('cordoned: takes no new pods').waitFor({ state: 'detached' })

    await tab.getByRole('button', { name: 'Pull an image…' }).click()
    await tab.getByRole('textbox', { name: 'Image' }).fill('busybox:1')
    await tab.getByRole('button', { name: 'Pull', exact: true }).click()
    await tab.getByText('busybox:1 is on the node.').waitFor()
    await tab.getByRole('textbox', { name: 'Image' }).fill('missing:1')
    await tab.getByRole('button', { name: 'Pull', exact: true }).click()
    await tab.getByRole('alert').getByText('Cannot pull "missing:1": not found').waitFor()
    assert.deepEqual(page.agent.pulled, ['busybox:1', 'missing:1'])
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a read-only user sees the same, and no button that changes anything', async () => {
    await addRunningPod(page.api, 'seen')
    await using reader = await openBrowser()
    const { tab, faults } = await reader.open()
    await tab.goto(page.link('reader'))
    await tab.getByText('reader (read-only)').waitFor()
    await tab.getByRole('link', { name: 'default/seen' }).waitFor()
    const listed = await tab.getByRole('button').allTextContents()
    assert.deepEqual(
      listed.filter((name) => name.endsWith('…')),
      [],
    )
    await tab.getByRole('link', { name: 'default/seen' }).click()
    await tab.getByRole('heading', { name: 'Containers' }).waitFor()
    assert.equal(await tab.getByRole('group', { name: 'Actions' }).count(), 0)
    assert.equal(await tab.getByRole('link', { name: 'Terminal' }).count(), 0)
    assert.deepEqual(faults, [])
    await tab.close()
  })
})
