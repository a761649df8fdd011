/**
 * Loaded before test files. node:test follows every promise of a test with an async hook, to know which test an
 * uncaught error belongs to: a quarter of the CPU time of tests that do much. Here it follows its tests alone, so such an error fails the file.
 */
import { createHook } from 'node:async_hooks'
import type { AsyncHook, HookCallbacks } from 'node:async_hooks'

type Init = NonNullable<HookCallbacks['init']>

const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook
const enable = Reflect.get(prototype, 'enable')
prototype.enable = function enableUntracked(this: AsyncHook & Record<symbol, unknown>) {
  const symbols = new Map(Object.getOwnPropertySymbols(this).map((symbol) => [symbol.description, symbol]))
  const [init, destroy, noPromises] = ['init', 'destroy', 'kNoPromiseHook'].map((name) => symbols.get(name))
  const original = init && (this[init] as Init | undefined)
  if (init && destroy && noPromises && original !== undefined && String(original).includes('testResources')) {
    const onlyTests: Init = (id, type, ...rest) => {
      if (type === 'Test') original(id, type, ...rest)
    }
    Object.assign(this, { [init]: onlyTests, [destroy]: undefined, [noPromises]: true })
  }
  return enable.call(this)
}
