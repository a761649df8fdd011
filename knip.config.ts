import process from 'node:process'
import type { KnipConfig } from 'knip'

// "knip" finds what nothing uses, "knip --production" what only tests use: there, the programs below are all that counts ("!").
const isProduction = process.argv.includes('--production')

const config: KnipConfig = {
  entry: [
    'src/main.ts!',
    'src/deckhand.ts!',
    'src/page/client/show-page.tsx!',
    'src/system/guarded/child/answer-requests.ts!',
    'src/system/network/child/dial.ts!',
    'src/base/document/yaml-library.ts!',
    'src/**/*.test.ts',
    'test/**/*.test.ts',
    'test/bench/main.ts',
    'test/bench/{api-child,page-reader,traffic-client}.ts',
    'test/churn/{main,control-plane-child,connection-client}.ts',
    'test/component/api-server/storm-child.ts',
    'test/contract/api-server/record.ts',
    'test/contract/controllers/record.ts',
    'test/e2e/lab/prepare-images.ts',
    'test/e2e/support/*kill-switch.ts',
    'test/fakes/run-fake-csi-driver.ts',
    'test/faults/frame-proxy.ts',
    'test/faults/main.ts',
    'tools/*.{ts,mjs}',
    'tools/package/{main,executable}.ts',
    'tools/program/run-program.ts',
    'tools/**/*.test.ts',
  ],
  project: ['src/**/*.{ts,tsx}!', '!src/**/*.test.ts!', 'test/**/*.ts', 'tools/**/*.ts'],
  // A part of a file may be exported for its test alone, as long as the file itself uses it.
  ignoreExportsUsedInFile: isProduction,
  ignore: ['src/**/generated/**'],
  ignoreDependencies: ['@bufbuild/buf', 'ts-proto'],
  ignoreBinaries: [
    'apt-config',
    'apt-get',
    'chroot',
    'dbus-daemon',
    'dpkg',
    'dpkg-deb',
    'etcd',
    'flock',
    'kubectl',
    'ldd',
    'mkfifo',
    'nsenter',
    'setpriv',
    'taskset',
    'unshare',
  ],
}

export default config
