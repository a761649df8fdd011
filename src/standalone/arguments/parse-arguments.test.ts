import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseArguments } from './parse-arguments.ts'
import type { UpOptions } from './up-options.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'

const up: UpOptions = {
  state: '/var/lib/deckhand',
  manifests: undefined,
  apply: undefined,
  runtime: undefined,
  ociRuntime: undefined,
  kubelet: undefined,
  cgroupRoot: undefined,
  ports: { kubernetes: 6443, agent: 10250, healthz: 10248 },
  addresses: [],
  isDualStack: false,
  pagePort: 6080,
  ingressPorts: { http: undefined, https: undefined },
  without: [],
}

const detach = { state: '/var/lib/deckhand', waitMs: undefined, isApplying: false }

describe('parseArguments()', () => {
  for (const [line, expected] of [
    ['', { kind: 'help', command: undefined }],
    ['help', { kind: 'help', command: undefined }],
    ['help down', { kind: 'help', command: 'down' }],
    ['up --help', { kind: 'help', command: 'up' }],
    ['up --detach', { kind: 'detach', options: { ...detach, args: [] } }],
    [
      'up --apply all --port 1 --wait --state s',
      {
        kind: 'detach',
        options: {
          state: '/home/me/s',
          args: ['--state=/home/me/s', '--apply=/home/me/all', '--port=1'],
          waitMs: 300_000,
          isApplying: true,
        },
      },
    ],
    ['up --wait=90s', { kind: 'detach', options: { ...detach, args: [], waitMs: 90_000 } }],
    ['install --apply all', { kind: 'install', args: ['--apply=/home/me/all'] }],
    ['uninstall', { kind: 'uninstall' }],
    ['logs', { kind: 'logs', options: { state: '/var/lib/deckhand', part: 'agent', follow: false, lines: 100 } }],
    [
      'logs api -f -n 5 --state s',
      { kind: 'logs', options: { state: '/home/me/s', part: 'api', follow: true, lines: 5 } },
    ],
    ['images ls', { kind: 'images', options: { state: '/var/lib/deckhand', action: { kind: 'ls' } } }],
    [
      'images --state s pull a b',
      { kind: 'images', options: { state: '/home/me/s', action: { kind: 'pull', names: ['a', 'b'] } } },
    ],
    ['images rm a', { kind: 'images', options: { state: '/var/lib/deckhand', action: { kind: 'rm', names: ['a'] } } }],
    [
      'images load',
      {
        kind: 'images',
        options: { state: '/var/lib/deckhand', action: { kind: 'load', files: ['-'], name: undefined } },
      },
    ],
    [
      'images load a.tar --name web:1',
      {
        kind: 'images',
        options: { state: '/var/lib/deckhand', action: { kind: 'load', files: ['/home/me/a.tar'], name: 'web:1' } },
      },
    ],
    [
      'images save a -o a.tar',
      {
        kind: 'images',
        options: { state: '/var/lib/deckhand', action: { kind: 'save', names: ['a'], file: '/home/me/a.tar' } },
      },
    ],
    ['backup b.tar', { kind: 'backup', options: { state: '/var/lib/deckhand', file: '/home/me/b.tar' } }],
    [
      'restore --state s b.tar --keys k',
      { kind: 'restore', options: { state: '/home/me/s', file: '/home/me/b.tar', keys: '/home/me/k' } },
    ],
    ['reset', { kind: 'reset', options: { state: '/var/lib/deckhand', yes: false } }],
    ['reset --yes --state s', { kind: 'reset', options: { state: '/home/me/s', yes: true } }],
    ['why web', { kind: 'why', pod: 'web', state: '/var/lib/deckhand', rootDirectory: undefined }],
    [
      'why deployment/web -n shop',
      { kind: 'why', pod: 'shop/web', state: '/var/lib/deckhand', rootDirectory: undefined },
    ],
    ['why --state s default/web', { kind: 'why', pod: 'default/web', state: '/home/me/s', rootDirectory: undefined }],
    [
      'why --root-dir kubelet web',
      { kind: 'why', pod: 'web', state: '/var/lib/deckhand', rootDirectory: '/home/me/kubelet' },
    ],
    ['--version', { kind: 'version' }],
    ['up', { kind: 'up', options: up }],
    [
      'up --state here --manifests ../pods',
      { kind: 'up', options: { ...up, state: '/home/me/here', manifests: '/home/pods' } },
    ],
    ['up --apply all', { kind: 'up', options: { ...up, apply: '/home/me/all' } }],
    ['up --runtime /run/c.sock', { kind: 'up', options: { ...up, runtime: 'unix:///run/c.sock' } }],
    ['up --oci-runtime crun', { kind: 'up', options: { ...up, ociRuntime: 'crun' } }],
    [
      'up --runtime auto --oci-runtime /opt/crun',
      { kind: 'up', options: { ...up, runtime: 'auto', ociRuntime: '/opt/crun' } },
    ],
    ['up --runtime unix:///run/c.sock', { kind: 'up', options: { ...up, runtime: 'unix:///run/c.sock' } }],
    ['up --kubelet bin/kubelet', { kind: 'up', options: { ...up, kubelet: '/home/me/bin/kubelet' } }],
    ['up --ip-families IPv4', { kind: 'up', options: up }],
    ['up --ip-families IPv4,IPv6', { kind: 'up', options: { ...up, isDualStack: true } }],
    ['up --without deployments', { kind: 'up', options: { ...up, without: ['deployments'] } }],
    ['up --address 192.0.2.1', { kind: 'up', options: { ...up, addresses: ['192.0.2.1'] } }],
    ['up --address fd00:0::1,192.0.2.1', { kind: 'up', options: { ...up, addresses: ['fd00::1', '192.0.2.1'] } }],
    [
      'kubeconfig --state s --address 192.0.2.1 --reader',
      { kind: 'kubeconfig', options: { state: '/home/me/s', address: '192.0.2.1', isReader: true } },
    ],
    [
      'kubeconfig',
      { kind: 'kubeconfig', options: { state: '/var/lib/deckhand', address: undefined, isReader: false } },
    ],
    ['up --cgroup-root /a/b', { kind: 'up', options: { ...up, cgroupRoot: '/a/b' } }],
    ['up --ingress-http-port 80', { kind: 'up', options: { ...up, ingressPorts: { http: 80, https: undefined } } }],
    [
      'up --ingress-https-port 443 --ingress-http-port 80',
      { kind: 'up', options: { ...up, ingressPorts: { http: 80, https: 443 } } },
    ],
    [
      'up --detach --ingress-https-port 443',
      { kind: 'detach', options: { ...detach, args: ['--ingress-https-port=443'] } },
    ],
    ['up --page-port 0', { kind: 'up', options: { ...up, pagePort: undefined } }],
    ['page', { kind: 'page', options: { state: '/var/lib/deckhand', identity: 'admin' } }],
    [
      'page --kubeconfig k --node n',
      { kind: 'node-page', options: { kubeconfig: '/home/me/k', node: 'n', kubelet: undefined, port: 0 } },
    ],
    [
      'page --kubeconfig /k --kubelet 10.0.0.5',
      {
        kind: 'node-page',
        options: { kubeconfig: '/k', node: undefined, kubelet: new URL('https://10.0.0.5:10250'), port: 0 },
      },
    ],
    [
      'page --kubeconfig /k --page-port 8001',
      { kind: 'node-page', options: { kubeconfig: '/k', node: undefined, kubelet: undefined, port: 8001 } },
    ],
    ['page --read-only --state /s', { kind: 'page', options: { state: '/s', identity: 'reader' } }],
    [
      'up --api-port 7 --port 1 --healthz-port 65535',
      { kind: 'up', options: { ...up, ports: { kubernetes: 7, agent: 1, healthz: 65_535 } } },
    ],
    ['down', { kind: 'down', state: '/var/lib/deckhand', purge: false }],
    ['down --purge --state /s/', { kind: 'down', state: '/s', purge: true }],
    [
      'shutdown',
      { kind: 'shutdown', options: { state: '/var/lib/deckhand', rootDirectory: undefined, cancel: false } },
    ],
    [
      'shutdown --root-dir kubelet --cancel',
      { kind: 'shutdown', options: { state: '/var/lib/deckhand', rootDirectory: '/home/me/kubelet', cancel: true } },
    ],
    ['status', { kind: 'status', state: '/var/lib/deckhand' }],
  ] as const) {
    test(`reads "${line}"`, () => {
      const args = line.split(' ').filter((word) => word !== '')
      assert.deepEqual(parseArguments(args, '/home/me'), expected)
    })
  }

  for (const [line, message] of [
    ['frob', /^Cannot do "frob": expected up, down/],
    ['up --wait=soon', /^Cannot use --wait "soon": expected a time such as 90s or 5m/],
    ['up --wait=0s', /^Cannot use --wait "0s": expected a time such as 90s or 5m/],
    ['logs kernel', /^Cannot show the log of "kernel": expected agent, api, controllers, runtime, up/],
    ['logs -n many', /^Cannot show "many" lines/],
    ['uninstall now', /^Cannot read the arguments: /],
    ['up now', /^Cannot read the arguments: /],
    ['up --purge', /^Cannot read the arguments: .*--purge/],
    ['status --runtime x', /^Cannot read the arguments: /],
    ['up --ip-families IPv6', /^Cannot use --ip-families "IPv6": expected IPv4 or IPv4,IPv6/],
    ['up --without deployments,cats', /^Cannot use --without "cats": expected deployments/],
    ['up --address here', /^Cannot use --address "here": expected an IP address of this machine/],
    ['up --address=', /^Cannot use --address "": expected an IP address of this machine/],
    ['up --address 0.0.0.0', /^Cannot use --address "0.0.0.0": expected one address of this machine, not all of them/],
    ['up --address ::', /^Cannot use --address "::": expected one address/],
    ['up --address fe80::1%eth0', /^Cannot use --address "fe80::1%eth0": expected an IP address/],
    [
      'up --address 192.0.2.1,192.0.2.2',
      /^Cannot use --address .*: expected one address, or one of IPv4 and one of IPv6/,
    ],
    ['up --port 0', /^Cannot use --port "0": expected a number from 1 to 65535/],
    ['up --healthz-port 65536', /^Cannot use --healthz-port/],
    ['up --ingress-http-port 0', /^Cannot use --ingress-http-port "0": expected a number from 1 to 65535/],
    ['up --ingress-https-port 443 --without ingress', /^Cannot use --ingress-https-port with --without ingress/],
    ['up --ingress-http-port 80 --without dns,services', /^Cannot use --ingress-http-port with --without services/],
    ['up --ingress-http-port 80 --ingress-https-port 80', /^Cannot use one port for HTTP and HTTPS/],
    ['up --oci-runtime ./crun', /^Cannot use --oci-runtime "\.\/crun": expected a name such as crun/],
    ['up --runtime docker --oci-runtime crun', /^Cannot use --oci-runtime with --runtime/],
    ['up --runtime tcp://1.2.3.4', /^Cannot use --runtime "tcp/],
    ['up --cgroup-root /', /^Cannot use --cgroup-root/],
    ['up --cgroup-root /a/../..', /^Cannot use --cgroup-root/],
    ['up --cgroup-root a', /^Cannot use --cgroup-root/],
    ['page --node n', /^Cannot use --node: it is for "page --kubeconfig"/],
    ['page --page-port 1', /^Cannot use --page-port: it is for "page --kubeconfig"/],
    ['page --kubeconfig k --state s', /^Cannot use --state with --kubeconfig/],
    ['page --kubeconfig k --read-only', /^Cannot use --read-only with --kubeconfig: the page has the rights/],
    ['page --kubeconfig k --page-port x', /^Cannot use --page-port "x": expected a number/],
    ['backup', /^Cannot back up: expected one file/],
    ['backup a b', /^Cannot back up: expected one file/],
    ['backup a --keys b', /^Cannot read the arguments: Unknown option '--keys'/],
    ['restore', /^Cannot restore: expected one file/],
    ['images', /^Cannot do "images ": expected ls, pull, load, save or rm/],
    ['images list', /^Cannot do "images list": expected ls, pull, load, save or rm/],
    ['images ls a', /^Cannot list "a": expected nothing after "ls"/],
    ['images pull', /^Cannot do "images pull": expected the name of an image/],
    ['images save', /^Cannot do "images save": expected the name of an image/],
    ['images load a b --name c', /^Cannot use --name with several files/],
    ['images rm a --name c', /^Cannot use --name: it is for "images load"/],
    ['images load a -o c', /^Cannot use --output: it is for "images save"/],
  ] as const) {
    test(`rejects "${line}"`, () => {
      assert.throws(
        () => parseArguments(line.split(' '), '/home/me'),
        (error: unknown) => {
          assert.ok(error instanceof NodeError)
          assert.equal(error.exitCode, exitCodes.wrongArguments)
          assert.match(error.message, message)
          assert.match(error.message, /; "deckhand (?:help|[a-z]+ --help)" says more$/)
          return true
        },
      )
    })
  }

  test('names the help of the command whose arguments are wrong', () => {
    assert.throws(() => parseArguments(['up', '--frob'], '/'), /; "deckhand up --help" says more$/)
    assert.throws(() => parseArguments(['frob'], '/'), /; "deckhand help" says more$/)
  })

  test('passes on every option of "up" to one that runs detached or at boot', () => {
    const options =
      '--state s --manifests m --apply a --oci-runtime crun --kubelet k --cgroup-root /c --api-port 1 --port 2 --healthz-port 3 --page-port 4 --ingress-http-port 5 --ingress-https-port 6 --address 192.0.2.1 --ip-families IPv4,IPv6 --without jobs,budgets'
    const runtime = '--runtime unix:///r.sock'
    for (const line of [options, runtime]) {
      const detached = parseArguments(['up', '-d', ...line.split(' ')], '/home/me')
      assert.ok(detached.kind === 'detach')
      assert.deepEqual(
        parseArguments(['up', ...detached.options.args], '/elsewhere'),
        parseArguments(['up', ...line.split(' ')], '/home/me'),
      )
    }
  })
})
