/** The program of the page. */
import '@xterm/xterm/css/xterm.css'
import 'uplot/dist/uPlot.min.css'
import './style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { watchShown } from './shown.ts'

watchShown()
const root = document.querySelector('#page')
if (root !== null) render(<App />, root)
