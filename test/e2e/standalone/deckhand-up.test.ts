import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CHROMIUM, openBrowser } from '../../browser/open-browser.ts'
import { childPid } from '../lab/lab-namespaces.ts'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'
import { checkSandboxProfile } from '../support/check-sandbox-profile.ts'
import { UpNode } from '../support/up-node.ts'
import { waitFor } from '../support/wait-for.ts'

const SETTINGS_HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))

// Not root, yet able to run the launcher in a checkout that only its owner may enter; the compile cache in there stays the owner's.
const OTHER_USER =
  'setpriv --reuid 65534 --clear-groups --inh-caps +dac_override --ambient-caps +dac_override env NODE_DISABLE_COMPILE_CACHE=1'

/** Images go out of the node and in again under another name; one that a pod has stays. */
async function checkImages(lab: Lab, node: UpNode): Promise<void> {
  const images = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await node.run('images', ...args)
    return [exitCode, `${stdout}${stderr}`] as const
  }
  const file = `${lab.folder}/image.tar`
  assert.match((await images('ls'))[1], /^deckhand\.local\/busybox:1 +\w{12} +[\d.]+ MB +1 pod$/m)
  assert.deepEqual(await images('save', 'deckhand.local/busybox:1', '-o', file), [
    0,
    `saved deckhand.local/busybox:1 to ${file}\n`,
  ])
  assert.deepEqual(await images('load', file, '--name', 'copy:2'), [0, 'loaded docker.io/library/copy:2\n'])
  // The copy would stay, but the pod asks for the image by this name.
  const [kept, why] = await images('rm', 'deckhand.local/busybox:1')
  assert.equal(kept, 1)
  assert.match(why, /Cannot remove "deckhand\.local\/busybox:1": in use by pod default\/example-/)
  assert.deepEqual(await images('rm', 'copy:2'), [0, 'removed copy:2\n'])
  const [code, used] = await images('rm', 'deckhand.local/busybox:1')
  assert.equal(code, 1)
  assert.match(used, /^deckhand: Cannot remove "deckhand\.local\/busybox:1": in use by pod default\/example-/)
}

/** The page in a real browser: a link signs in, and shows the pod that runs, what was done for it, and its log. */
async function checkPage(lab: Lab, node: UpNode, said: string): Promise<void> {
  // No link is written where others may read it: this is a file.
  assert.match(said, /look at it +bin\/deckhand page --state \S+ prints a link/)
  assert.doesNotMatch(said, /token=/)
  const link = (await node.run('page')).stdout.trim()
  assert.match(link, /^http:\/\/127\.0\.0\.1:6080\/sign-in\?token=admin\.\S+$/)
  // The browser is outside but for its network, in which the page is served.
  const [, , pid = ''] = lab.enter
  const program = `${lab.folder}/chromium`
  await writeFile(program, `#!/bin/sh\nexec nsenter --target ${pid} --net -- ${CHROMIUM} "$@"\n`, { mode: 0o755 })
  await using browser = await openBrowser({}, program)
  const { tab, faults } = await browser.open()
  await tab.goto(link)
  const row = tab.getByRole('row').filter({ hasText: 'default/example-' })
  await row.getByText('Running').waitFor()
  await row.getByText('Runs and is ready').waitFor()
  await tab.getByText('Ready: True').waitFor()
  await tab
    .locator('.plot-value', { hasText: / of .*iB$/ })
    .first()
    .waitFor()
  await row.getByRole('link').click()
  await tab.locator('.steps').getByText('create sandbox').waitFor()
  await tab.getByRole('link', { name: 'Logs' }).click()
  await tab.getByText('following').waitFor()
  assert.deepEqual(faults, [])
}

/** A node that is down is forgotten, and brought back from the backup that was made while it ran. */
async function checkCare(lab: Lab, node: UpNode): Promise<void> {
  const database = `${node.state}/api/objects/objects.db`
  const unsure = await node.run('reset')
  assert.equal(unsure.exitCode, 2)
  assert.match(unsure.stderr, /^deckhand: Cannot reset without --yes: it ends all pods and removes all objects/)
  assert.ok(existsSync(database))
  const reset = await node.run('reset', '--yes')
  assert.equal(reset.exitCode, 0, reset.stderr)
  assert.equal(existsSync(database), false)
  assert.ok(existsSync(`${node.state}/manifests`))
  const restore = await node.run('restore', `${lab.folder}/node.tar`)
  assert.equal(restore.exitCode, 0, restore.stderr)
  assert.match(restore.stdout, /^Restored \d+ objects of node "[^"]+" as of /)
  assert.ok(existsSync(database))
}

describe('deckhand up', () => {
  test('runs the example, is left and found again, and goes down', async () => {
    await using lab = await startLab()
    const node = new UpNode(lab)
    const first = await node.up()
    const url = /curl (http:\S+)/.exec(await first.output())?.[1]
    assert.ok(url, await first.output())
    assert.deepEqual(await lab.network.get(url), { status: 200, body: 'Hello from Deckhand\n' })
    const status = await node.run('status')
    assert.equal(status.exitCode, 0)
    assert.match(status.stdout, /default\/example-\S+ +yes +Running +0/)

    await checkSandboxProfile(node.state)
    await checkImages(lab, node)
    await checkPage(lab, node, await first.output())
    assert.equal((await node.run('backup', `${lab.folder}/node.tar`)).exitCode, 0)
    const second = await node.run('up')
    assert.equal(second.exitCode, 3)
    assert.match(second.stderr, /Cannot start the node: it runs already \(pid \d+\)/)

    const containers = await node.containers()
    assert.notEqual(containers, '')
    process.kill((await childPid(first.process.pid)) ?? 0, 'SIGINT')
    assert.deepEqual(await first.process.exited, { exitCode: 0, signal: undefined })
    assert.match(await first.output(), /Pods and runtime go on/)
    assert.equal((await node.run('status')).exitCode, 3)
    assert.equal(await node.containers(), containers)

    const settings = `${node.state}/kubelet.conf.d/limits.conf`
    await writeFile(settings, `${SETTINGS_HEAD}podPidsLimit: -5\n`)
    const again = await node.up()
    assert.match(await again.output(), /containerd found running/)
    const warning = `podPidsLimit: -5: expected -1 or more, there is no limit (${settings} line 3)`
    assert.ok((await readFile(`${node.state}/logs/kubelet.log`, 'utf8')).includes(warning))
    assert.ok((await again.output()).includes(`warning: ${warning}\n`))
    assert.equal(await node.containers(), containers)

    const down = await node.run('down')
    assert.equal(down.exitCode, 0, down.stderr)
    assert.match(down.stdout, /1 pod stopped\ncontainerd stopped\nEverything is stopped/)
    assert.deepEqual(await again.process.exited, { exitCode: 0, signal: undefined })
    assert.equal(await node.containers(), '')
    assert.doesNotMatch((await lab.runInside(['cat', '/proc/self/mountinfo'])).stdout, new RegExp(node.state))
    assert.ok(existsSync(node.state))

    await checkCare(lab, node)
    assert.equal((await node.run('down', '--purge')).exitCode, 0)
    assert.equal(existsSync(node.state), false)
  })

  test('starts agent and containerd again when they are killed, and keeps the containers', async () => {
    await using lab = await startLab()
    const node = new UpNode(lab)
    const { output } = await node.up()
    const containers = await node.containers()
    const readPid = async (file: string) => {
      const { pid } = JSON.parse(await readFile(`${node.state}/${file}`, 'utf8')) as { readonly pid: number }
      return pid
    }
    const killed: [file: string, pid: number][] = []
    for (const file of ['kubelet.pid', 'containerd/containerd.pid']) {
      killed.push([file, await readPid(file)])
      await lab.runInside(['kill', '-KILL', String(killed.at(-1)?.[1])])
    }
    for (const [file, pid] of killed)
      await waitFor(`another pid in ${file}`, async () => (await readPid(file)) !== pid, { context: output })
    for (let tries = 0; ; tries += 1) {
      const { exitCode, stdout } = await node.run('status')
      if (exitCode === 0 && stdout.includes('containerd (pid') && /yes +Running/.test(stdout)) break
      assert.ok(tries < 100, `${stdout}\n${await output()}`)
      await sleep(100)
    }
    assert.match(await output(), /the agent ended \(signal SIGKILL\), starting it again/)
    assert.equal(await node.containers(), containers)
    assert.equal((await node.run('down')).exitCode, 0)
  })

  test('says what is wrong', async () => {
    await using lab = await startLab()
    const node = new UpNode(lab)
    await lab.startInside(['/bin/busybox', 'httpd', '-f', '-p', '127.0.0.1:10248'], `${lab.folder}/httpd.log`)
    const listening = async () => (await lab.runInside(['ss', '-ltn'])).stdout.includes(':10248')
    for (let tries = 0; !(await listening()); tries += 1) assert.ok(tries < 100)
    for (const [args, exitCode, message] of [
      [['--runtime', '/no/such.sock', '--healthz-port', '1'], 4, /Cannot use the runtime "unix:\/\/\/no\/such.sock"/],
      [[], 4, /Cannot listen on port 10248: it is taken .* choose another with --healthz-port/],
      [['--healthz-port', 'x'], 2, /Cannot use --healthz-port "x"/],
    ] as const) {
      const result = await node.run('up', ...args)
      assert.deepEqual([result.exitCode, result.stdout], [exitCode, ''])
      assert.match(result.stderr, message)
    }
    const settings = `${node.state}/kubelet.conf.d`
    await mkdir(settings, { recursive: true })
    for (const [text, message] of [
      [
        'maxPods: -3\n',
        `Cannot use the configuration:\n  maxPods: -3: expected at least 0 (${settings}/a.conf line 3)\n`,
      ],
      [
        'port: 12345\n',
        `Cannot use the settings in "${settings}": port is 12345, expected 10250, which --port of "deckhand up" sets\n`,
      ],
    ]) {
      await writeFile(`${settings}/a.conf`, `${SETTINGS_HEAD}${text}`)
      const result = await node.run('up', '--healthz-port', '10249')
      assert.deepEqual([result.exitCode, result.stdout, result.stderr], [1, '', `deckhand: ${message}`])
    }
    const result = await lab.runInside([...OTHER_USER.split(' '), deckhand, 'up', '--state', node.state])
    assert.deepEqual([result.exitCode, result.stderr], [4, 'deckhand: Cannot run a node: this needs root (try sudo)\n'])
  })
})
