#!/usr/bin/env node
import '#udp-echo';
