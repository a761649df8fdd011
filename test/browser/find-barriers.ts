import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The findings of axe that keep people from using the page. */
export async function findBarriers(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(axe.source)
  const found = (await tab.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    readonly violations: readonly {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string }[]
    }[]
  }
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}
