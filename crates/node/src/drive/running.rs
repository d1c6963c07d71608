//! A run that goes on: one peer, whatever the protocol.

use super::*;

type AlarmOf<P> = Alarm<<<P as Part>::Machine as Machine>::Timer>;

pub(super) struct Running<P: Part> {
    pub(super) part: P,
    pub(super) host: HostOf<P>,
    pub(super) cost: Cost,
    pub(super) asks: Sender<Asked<ValueOf<P>>>,
    pub(super) made: Receiver<Made<ValueOf<P>>>,
    pub(super) alarms: BTreeMap<(Instant, u64), AlarmOf<P>>,
    pub(super) order: u64,
    pub(super) bulletin: Bulletin,
    pub(super) began: Instant,
    pub(super) refusals: Quiet<Peer>,
    pub(super) missing: BTreeSet<Peer>,
    pub(super) met: BTreeSet<Peer>,
    /// What neighbours sent as the terms of another run.
    pub(super) others: BTreeMap<Peer, String>,
    /// Neighbours who need nothing more.
    pub(super) done: BTreeSet<Peer>,
    /// Whether the agreed time is over.
    pub(super) over: bool,
    /// Whether it had ended here before this process: neighbours who were cut off may come to hear of it.
    pub(super) returned: bool,
    /// How often a timer was put off because this process had stood still.
    pub(super) postponed: u32,
    /// When everybody's numbers were signed.
    pub(super) signed: Option<Instant>,
    /// When this process last went on after it had stood still for half a round.
    pub(super) stood_still: Option<Instant>,
    pub(super) driver: Driver,
}

/// So long nobody else gets the ledger after everybody's numbers were signed: others may begin by then.
const SETTLES: Duration = Duration::from_secs(5);
/// So often at the most: a machine that is always late gives up as others do.
const POSTPONED: u32 = 16;

impl<P: Part> Running<P> {
    /// Until there is a result, or there cannot be one.
    pub(super) fn run(&mut self) -> Result<Stands> {
        loop {
            let machine = self.host.machine();
            let stands = if self.over { self.part.ends(machine)? } else { self.part.stands(machine)? };
            self.show(&stands);
            match stands {
                Stands::Going { .. } if self.over => {
                    return Err(Error::NoResult(
                        "the agreed time is over, and there is no result".to_owned(),
                    ));
                }
                Stands::Going { .. } => self.next(None)?,
                Stands::Halted { round, .. } => {
                    let mut missing: Vec<Peer> = self.missing.iter().copied().collect();
                    let key = self.host.ledger().key();
                    // Others have given this peer up, and not the other way round.
                    if self.stood_still.is_some_and(|when| when.elapsed() < 2 * self.patience()) {
                        let me = self.host.ledger().name();
                        missing =
                            self.host.roster().iter().position(|name| *name == me).into_iter().collect();
                    }
                    if let Some(notice) = self.bulletin.report_silence(round as u64, &missing, key)? {
                        self.pass_on(&notice, None)?;
                    }
                    return Ok(Stands::Halted { round, missing });
                }
                Stands::Done(_) if self.part.lasts().is_some() => {
                    let key = self.host.ledger().key();
                    if let Some(notice) = self.bulletin.report_result(key)? {
                        self.pass_on(&notice, None)?;
                    }
                    return Ok(stands);
                }
                Stands::Done(_) | Stands::Told(_) | Stands::Elsewhere => return Ok(stands),
            };
        }
    }

    /// Where a run has no end of its own, it is over after the agreed time, counted from when it began or was taken up again.
    pub(super) fn lasts(&mut self) {
        if let Some(time) = self.part.lasts() {
            self.alarm(time, Alarm::Over);
        }
    }

    /// Stays until neighbours hold all that was said to them, or a round's time has passed without any of it being answered. Where it had ended before, it stays as well until every
    /// neighbour was met: who was cut off hears from the notices that it is over, or from a greeting that its ledger is an older one.
    pub(super) fn linger(mut self, stands: Stands, took: Duration) -> Result<Ended> {
        let mut before = self.host.unanswered()?;
        let mut until = Instant::now() + self.patience();
        let told = |run: &Self| !run.returned || run.host.absent().is_empty();
        while !(before.is_empty() && told(&self)) && self.stays(until)? {
            let now = self.host.unanswered()?;
            if before.iter().any(|one| !now.contains(one)) {
                until = Instant::now() + self.patience();
            }
            before = now;
        }
        // Who is there and was waited for in vain has waited for somebody, too, and will say for whom.
        let until = Instant::now() + self.patience();
        let innocent = |run: &Self| {
            let mut missing = run.missing.iter();
            missing.any(|peer| run.met.contains(peer) && !run.bulletin.has_reported(*peer))
        };
        while matches!(stands, Stands::Halted { .. }) && innocent(&self) && self.stays(until)? {}
        self.host.settle()?;
        self.part_ways()?;
        let unanswered: BTreeSet<Peer> = before.into_iter().map(|(peer, _)| peer).collect();
        let cause = if matches!(stands, Stands::Halted { .. }) { self.bulletin.cause() } else { None };
        cause.iter().for_each(|cause| self.driver.board.cause(cause));
        let (unanswered, held_by) = (unanswered.into_iter().collect(), self.bulletin.results());
        Ok(Ended { stands, unanswered, cause, held_by, trouble: None, remark: None, took })
    }

    /// What happens after the result. Others may do what they like by now, and its user may stop it: that ends the waiting, and takes nothing back.
    fn stays(&mut self, until: Instant) -> Result<bool> {
        match self.next(Some(until)) {
            Err(
                why @ (Error::Halted { .. }
                | Error::Disagreement { .. }
                | Error::SaidTwice(_)
                | Error::RunsTwice
                | Error::Over { .. }),
            ) => {
                tracing::warn!("the run is over here, and others are waited for no longer: {why}");
                Ok(false)
            }
            other => other,
        }
    }

    /// Tells neighbours that nothing more is needed of them, and stays until they say the same: who leaves at once may take an answer along that was not read.
    fn part_ways(&mut self) -> Result<()> {
        let neighbours = self.host.neighbours().to_vec();
        neighbours.iter().for_each(|&peer| self.driver.wire.send(peer, Frame::Done));
        self.driver.wire.flush(self.driver.pace.answer);
        let until = Instant::now() + self.patience();
        let waits =
            |run: &Self| neighbours.iter().any(|peer| run.met.contains(peer) && !run.done.contains(peer));
        while waits(self) && self.stays(until)? {}
        Ok(())
    }

    /// The next thing that happens; `false` once this time is over. Alarms come first: who is told much must not be late for them.
    fn next(&mut self, until: Option<Instant>) -> Result<bool> {
        // Others may begin once this peer has signed: nobody else spends its budget then, unless somebody vanished just now.
        let signed = (!self.host.has_begun() && self.bulletin.is_signed())
            .then(|| *self.signed.get_or_insert_with(Instant::now));
        let pause = match signed {
            Some(since) if since.elapsed() < SETTLES => None,
            _ => {
                let (gave, pause) = self.host.give_way();
                if gave && !self.host.has_begun() {
                    self.cost = self.part.cost(&self.host.declared()?)?;
                    self.host.affords(&self.cost)?;
                }
                pause
            }
        };
        let now = Instant::now();
        if until.is_some_and(|until| now >= until) {
            return Ok(false);
        }
        let first = self.alarms.first_key_value().map(|(&(time, _), _)| time);
        if let Some(first) = first.filter(|first| *first <= now) {
            if now - first > self.patience() / 2 {
                self.stood_still = Some(now);
            }
            match self.alarms.pop_first() {
                // This process stood still: what others have sent meanwhile is read before anybody is given up.
                Some((_, alarm @ Alarm::Timer(_)))
                    if now - first > self.driver.pace.answer / 2 && self.postponed < POSTPONED =>
                {
                    self.postponed += 1;
                    self.alarm(self.driver.pace.answer, alarm);
                }
                Some((_, alarm)) => self.ring(alarm)?,
                None => {}
            }
        } else if let Ok(event) = self.driver.inbox.try_recv() {
            self.happen(event)?;
        } else if !self.draw_ahead() {
            let stale = self.driver.board.settle().map(|after| now + after);
            let turn = pause.map(|pause| now + pause);
            let wake = [first, until, stale, turn].into_iter().flatten().min();
            let wait = wake.map_or(Duration::from_secs(60), |wake| wake.saturating_duration_since(now));
            match self.driver.inbox.recv_timeout(wait) {
                Ok(event) => self.happen(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.stopped("the network has gone")),
            }
        }
        self.begin()?;
        Ok(true)
    }

    /// Noise, while nothing else is to be done.
    fn draw_ahead(&mut self) -> bool {
        let begun = self.host.has_begun();
        let goes_on = matches!(self.part.stands(self.host.machine()), Ok(Stands::Going { .. }));
        goes_on && self.part.ahead(self.host.noise(), begun)
    }

    fn stopped(&self, why: &str) -> Error {
        self.waits_for(&[], why)
    }

    fn waits_for(&self, peers: &[Peer], why: &str) -> Error {
        let why = format!(
            "{why}; what was said is stored, and nothing is said in another way: run it again to go on"
        );
        Error::Halted { why, peers: self.driver.board.list(peers), begun: false }
    }

    /// Pays, and begins, as soon as everybody is there.
    fn begin(&mut self) -> Result<()> {
        if !self.host.is_ready() || self.host.has_begun() {
            return Ok(());
        }
        if let Some(cause) = self.bulletin.cause() {
            let board = &self.driver.board;
            return Err(Error::Over {
                why: format!(
                    "the run is over before it began here: {}. Nothing was paid or sent; agree on a new run",
                    board.told(&cause)
                ),
                peers: board.list(&cause.silent),
                round: Some(cause.round),
            });
        }
        if !self.bulletin.is_complete() {
            return Ok(());
        }
        tracing::info!("everybody is there; the run begins");
        self.began = Instant::now();
        let dues = match self.part.begin() {
            Some(command) => self.host.command(command, &self.cost)?,
            None => self.host.pay(&self.cost)?,
        };
        self.driver.board.spent(self.host.ledger())?;
        self.lasts();
        self.obey(dues)
    }

    /// Hands a notice to all neighbours but one, and keeps what is to be known after a restart.
    fn pass_on(&mut self, notice: &Notice, but: Option<Peer>) -> Result<()> {
        if !matches!(notice.says, Says::Here { .. }) {
            self.host.keep(notice)?;
            if let Some(cause) = self.bulletin.cause() {
                self.driver.board.cause(&cause);
            }
        }
        for &peer in self.host.neighbours().iter().filter(|&&peer| Some(peer) != but) {
            self.driver.wire.send(peer, Frame::Notice(notice.clone()));
        }
        Ok(())
    }

    /// Somebody hands a notice over.
    fn noticed(&mut self, from: Peer, notice: Notice) -> Result<()> {
        let news = match self.bulletin.hear(notice, self.host.ledger().key()) {
            Ok(news) => news,
            Err(what) => {
                self.garbled(from, &what);
                return Ok(());
            }
        };
        if news.twin {
            return Err(Error::RunsTwice);
        }
        // Who was cut off has to meet everybody to go on, and somebody has ended it: the others have a round to come.
        let ended = news.notices.iter().any(|notice| matches!(notice.says, Says::Silent { .. }));
        if ended && self.host.has_begun() && !self.host.is_ready() {
            self.alarm(self.patience(), Alarm::Meeting);
        }
        // What was signed here is new to the one who handed something over, too.
        let me = self.host.ledger().name();
        for notice in news.notices {
            let own = self.host.roster().get(notice.peer as usize) == Some(&me);
            self.pass_on(&notice, if own { None } else { Some(from) })?;
        }
        Ok(())
    }

    /// What a frame led to.
    fn heard(&mut self, from: Peer, dues: Result<Vec<DueOf<P::Machine>>>) -> Result<()> {
        match dues {
            Ok(dues) => self.obey(dues),
            Err(Error::Garbled { what, .. }) => {
                self.garbled(from, &what);
                Ok(())
            }
            Err(other @ Error::OtherRun { there, .. }) => {
                // The other side is told in which field; so are we, by what it sends.
                let terms = Frame::Terms(self.driver.terms.clone());
                self.driver.wire.send(from, terms);
                if self.host.has_begun() {
                    // A neighbour who is in another run by now is as good as gone.
                    self.garbled(from, &other.to_string());
                    return Ok(());
                }
                self.driver.wire.flush(Duration::from_secs(1));
                self.differing(from, there)
            }
            Err(error) => Err(error),
        }
    }

    fn happen(&mut self, event: Event) -> Result<()> {
        match event {
            // It counts once its sender has said, by a greeting, that this is what it runs.
            Event::Frame { from, frame: Frame::Terms(text), guard: _guard } => {
                if self.host.has_begun() {
                    self.garbled(from, "terms of another run");
                } else {
                    self.others.insert(from, text);
                }
                Ok(())
            }
            Event::Frame { from, frame: Frame::Notice(notice), guard: _guard } => self.noticed(from, notice),
            Event::Frame { from, frame: Frame::Done, guard: _guard } => {
                self.done.insert(from);
                Ok(())
            }
            Event::Frame { from, frame, guard } => {
                let dues = self.host.hear(from, frame);
                drop(guard);
                self.heard(from, dues)
            }
            Event::Parcel { from, parcel, guard } => {
                let dues = self.host.unpack(from, parcel);
                drop(guard);
                if dues.is_ok() {
                    tracing::debug!(
                        "a message of {} was heard, and is stored",
                        self.driver.board.names_of(&[from])
                    );
                }
                self.heard(from, dues)
            }
            Event::Garbled { from, what, guard: _guard } => {
                self.garbled(from, &what);
                Ok(())
            }
            Event::Met(peer) => {
                self.met.insert(peer);
                self.driver.board.met(peer, true);
                self.driver.wire.send(peer, self.host.greeting(peer)?);
                for notice in self.bulletin.all() {
                    self.driver.wire.send(peer, Frame::Notice(notice.clone()));
                }
                Ok(())
            }
            Event::Lost(peer) => {
                let was_there = self.met.remove(&peer);
                self.driver.board.met(peer, false);
                // (A way that was tried in vain is no news.)
                if was_there && !self.host.has_begun() {
                    self.host.gone(peer);
                    let notice = self.bulletin.again(self.host.ledger().key())?;
                    self.pass_on(&notice, None)?;
                }
                Ok(())
            }
            Event::Computed => self.computed(),
            Event::Stop => Err(self.stopped("stopped")),
        }
    }

    /// A neighbour has agreed to something else, and never will begin. Waits for the text of it, as long as an answer may take.
    fn differing(&mut self, from: Peer, run: Hash) -> Result<()> {
        let until = Instant::now() + self.driver.pace.answer;
        let name = self.driver.board.names_of(&[from]);
        loop {
            if let Some(text) = self.others.remove(&from) {
                match crate::agreement::differ(&self.driver.terms, &text, run, &name) {
                    Some(differs) => return Err(differs),
                    None => self.garbled(from, "terms that are not those of the run that it has named"),
                }
            }
            let wait = until.saturating_duration_since(Instant::now());
            match self.driver.inbox.recv_timeout(wait) {
                Ok(Event::Frame { from: by, frame: Frame::Terms(text), .. }) => {
                    self.others.insert(by, text);
                }
                Ok(_) => {}
                Err(_) => {
                    let why = format!(
                        "`agreement` is another one at {name}: compare the two with `node agree diff`"
                    );
                    return Err(Error::disagreement(why, &[name]));
                }
            }
        }
    }

    fn garbled(&self, from: Peer, what: &str) {
        if let Some(more) = self.refusals.due(from) {
            let name = self.driver.board.names_of(&[from]);
            tracing::warn!("refused, from {name}: {what}{}", quiet::told(more));
        }
        self.driver.board.refused(from, what);
    }

    /// One step for each time it is told of one: what was made after its user stopped it is told of after that, and never looked at.
    fn computed(&mut self) -> Result<()> {
        let Ok((ticket, value)) = self.made.try_recv() else { return Ok(()) };
        let dues = self.host.computed(ticket, value?)?;
        self.obey(dues)
    }

    pub(super) fn alarm(&mut self, after: Duration, alarm: AlarmOf<P>) {
        self.order += 1;
        self.alarms.insert((Instant::now() + after, self.order), alarm);
    }

    fn ring(&mut self, alarm: AlarmOf<P>) -> Result<()> {
        match alarm {
            // Nobody tells anything anew once the agreed time is over.
            Alarm::Timer(_) if self.over => Ok(()),
            Alarm::Timer(timer) => {
                let dues = self.host.timer(timer)?;
                self.obey(dues)
            }
            Alarm::Over => {
                self.over = true;
                Ok(())
            }
            Alarm::Meeting if self.host.is_ready() && self.host.has_begun() => Ok(()),
            Alarm::Meeting => Err(self.who_did_not_come()),
            Alarm::Again => {
                let peers: BTreeSet<Peer> =
                    self.host.unanswered()?.into_iter().map(|(peer, _)| peer).collect();
                for &peer in peers.intersection(&self.met.clone()) {
                    self.driver.wire.forget(peer);
                    let dues = self.host.again(peer)?;
                    self.obey(dues)?;
                }
                // Notices are not answered: until the run begins they are said again, and what is known changes nothing.
                if !self.host.has_begun() {
                    for &peer in &self.met {
                        for notice in self.bulletin.all() {
                            self.driver.wire.send(peer, Frame::Notice(notice.clone()));
                        }
                    }
                }
                self.alarm(self.driver.pace.answer, Alarm::Again);
                Ok(())
            }
        }
    }

    /// Who has not shown that it is there, or is there and cannot be reached.
    fn who_did_not_come(&self) -> Error {
        let names = |peers: &[Peer]| self.driver.board.names_of(peers);
        let cause = self.bulletin.cause().filter(|_| self.host.has_begun());
        if let Some(cause) = cause {
            return over(Some(&cause), cause.round, "", &self.driver.board.names());
        }
        if self.host.has_begun() {
            let absent = self.host.absent();
            let why = format!(
                "{} did not come in time. The run had begun here, and the others may have ended it since: ask one of them for `node status`. What was said is stored, and nothing is said in another way; if the run goes on there, run it again",
                names(&absent)
            );
            return Error::Halted { why, peers: self.driver.board.list(&absent), begun: true };
        }
        match (&self.bulletin.absent()[..], &self.host.absent()[..]) {
            ([], unreached) => {
                let why = format!("{} cannot be reached from here, and others can", names(unreached));
                self.waits_for(unreached, &why)
            }
            (absent, _) => self.waits_for(absent, &format!("{} did not come in time", names(absent))),
        }
    }

    /// A round, or an answer, whichever is longer.
    fn patience(&self) -> Duration {
        let Pace { answer, round, .. } = self.driver.pace;
        if round > answer { round } else { answer }
    }

    fn span(&self, span: Span) -> Duration {
        let Pace { answer, round, .. } = self.driver.pace;
        match span {
            Span::Answer => answer,
            // From when the round is entered: after many quick rounds a silent neighbour is not waited for longer than after one.
            Span::Round(_) => self.patience(),
            Span::Periods(periods) => round.mul_f64(periods.clamp(0.0, 1e6)),
        }
    }

    pub(super) fn obey(&mut self, dues: Vec<DueOf<P::Machine>>) -> Result<()> {
        for due in dues {
            match due {
                Due::Send { to, frame } => {
                    if matches!(frame, Frame::Parcel(_)) {
                        tracing::debug!(
                            "a message to {} is stored, and leaves",
                            self.driver.board.names_of(&[to])
                        );
                    }
                    self.driver.board.said(to, &frame);
                    self.driver.wire.send(to, frame);
                }
                Due::Wait { timer, span } => self.alarm(self.span(span), Alarm::Timer(timer)),
                Due::Compute { ticket, iteration, size, value } => {
                    let asked = self.asks.send((ticket, iteration, size, value));
                    asked.map_err(|_| self.stopped("private steps are made no longer"))?;
                }
                Due::Note(note) => {
                    // What it says besides may tell who began a rumour.
                    let missing = P::missing(&note);
                    if !missing.is_empty() {
                        tracing::info!("waited in vain for {}", self.driver.board.names_of(&missing));
                    }
                    self.missing.extend(missing);
                }
            }
        }
        Ok(())
    }

    fn show(&self, stands: &Stands) {
        let phase = match stands {
            Stands::Going { .. } if !self.host.has_begun() => Phase::Meeting,
            Stands::Going { .. } => Phase::Running,
            Stands::Done(_) | Stands::Told(_) | Stands::Elsewhere => Phase::Done,
            Stands::Halted { .. } => Phase::Halted,
        };
        let round = match *stands {
            Stands::Going { round, .. } | Stands::Halted { round, .. } => Some(round),
            Stands::Done(_) | Stands::Told(_) | Stands::Elsewhere => None,
        };
        self.driver.board.records(self.host.ledger().head().count);
        self.driver.board.stands(phase, round);
    }
}
